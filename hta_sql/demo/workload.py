"""The model in training, as templates: its operators, what they launch, and how long that takes.

A template has no start times and no rank; `process` runs it. Templates are compared by identity, so
that lookups are fast however large a template is.
"""

from dataclasses import replace
from math import prod

from hta_sql.demo.kernels import (
    ADAM_KERNEL,
    ADAPTER,
    ADD,
    COPY_KERNEL,
    EMBEDDING_GRADIENT_KERNEL,
    FFN,
    FFN_BYTES,
    FLASH_GRADIENT_KERNEL,
    FLASH_KERNEL,
    GATHER_KERNEL,
    GELU,
    GELU_BACKWARD,
    HIDDEN,
    LAYER_NORM_GRADIENT_KERNEL,
    LAYER_NORM_KERNEL,
    MASKED_SCALE,
    MEMORY_EFFICIENT_KERNEL,
    NORM_KERNEL,
    SMALL_GEMM_KERNEL,
    SOFTMAX_GRADIENT_KERNEL,
    SOFTMAX_KERNEL,
    STATES_BYTES,
    TOKENS,
    TRITON_KERNEL,
    VOCABULARY,
    bias_sum,
    elementwise,
    gemm,
)
from hta_sql.demo.operators import (
    Copy,
    Differentiable,
    Kernel,
    Op,
    StreamSync,
    Tensor,
    differentiable,
)

# How much longer a change takes.
SLOWER_ATTENTION_PERCENT = 120
TWICE_THE_ROWS_PERCENT = 160


def empty(*dims: int) -> Op:
    """Takes memory for a tensor in bfloat16."""
    return Op("aten::empty", (Tensor(2 * prod(dims)),), ((),))


def _linear(rows: int, columns: int) -> Differentiable:
    """A linear layer with `rows` inputs and `columns` outputs."""
    flops = 2 * TOKENS * rows * columns
    input_dims, weight_dims = (TOKENS, rows), (columns, rows)
    transpose = Op(
        "aten::t", (Op("aten::transpose", (Op("aten::as_strided", (), (weight_dims,)),)),)
    )
    forward_gemm = gemm("128x256x64", flops)
    input_gemm = gemm("256x128x64", flops)
    weight_gemm = gemm("64x256x64", flops)
    dims = (input_dims, weight_dims, (columns,))
    multiply = Op(
        "aten::addmm",
        (empty(TOKENS, columns), forward_gemm),
        ((columns,), input_dims, (rows, columns)),
    )
    return differentiable(
        Op("aten::linear", (transpose, multiply), dims),
        "AddmmBackward0",
        transpose,
        Op("aten::mm", (empty(TOKENS, rows), input_gemm), ((TOKENS, columns), weight_dims)),
        Op("aten::mm", (empty(columns, rows), weight_gemm), ((columns, TOKENS), input_dims)),
        Op("aten::sum", (bias_sum(columns),), ((TOKENS, columns), (), ())),
    )


def _attend(kernel: Kernel) -> Differentiable:
    """Attention. Its forward pass launches this kernel."""
    return differentiable(
        Op(
            "aten::scaled_dot_product_attention",
            (
                Op(
                    "aten::_scaled_dot_product_flash_attention",
                    (Op("aten::_flash_attention_forward", (empty(TOKENS, HIDDEN), kernel)),),
                ),
            ),
            ((1, 32, TOKENS, HIDDEN // 32),) * 3,
        ),
        "ScaledDotProductFlashAttentionBackward0",
        Op("aten::_flash_attention_backward", (empty(TOKENS, 3 * HIDDEN), FLASH_GRADIENT_KERNEL)),
    )


def _adapt(rows: int, kernel: Kernel) -> Differentiable:
    """The product of a matrix of `rows` rows with a small matrix."""
    input_dims = (rows, HIDDEN)
    multiply = Op("aten::mm", (empty(rows, ADAPTER), kernel), (input_dims, (HIDDEN, ADAPTER)))
    return differentiable(
        Op("aten::matmul", (multiply,), (input_dims,)),
        "MmBackward0",
        Op("aten::mm", (empty(rows, HIDDEN), kernel), ((rows, ADAPTER), (ADAPTER, HIDDEN))),
    )


_states = ((TOKENS, HIDDEN),)
_normalise = differentiable(
    Op(
        "aten::layer_norm",
        (Op("aten::native_layer_norm", (empty(TOKENS, HIDDEN), LAYER_NORM_KERNEL), _states),),
        _states,
    ),
    "NativeLayerNormBackward0",
    Op("aten::native_layer_norm_backward", (empty(TOKENS, HIDDEN), LAYER_NORM_GRADIENT_KERNEL)),
)
_clone = differentiable(
    Op(
        "aten::clone",
        (
            Op("aten::empty_like", (empty(TOKENS, HIDDEN),), _states),
            Op("aten::copy_", (COPY_KERNEL,), _states * 2),
        ),
        _states,
    ),
    "CloneBackward0",
)
_activate = differentiable(
    Op("aten::gelu", (empty(TOKENS, FFN), elementwise(GELU, 2, 2 * FFN_BYTES)), ((TOKENS, FFN),)),
    "GeluBackward0",
    Op("aten::gelu_backward", (elementwise(GELU_BACKWARD, 3, 3 * FFN_BYTES),)),
)
_add = differentiable(
    Op(
        "aten::add",
        (empty(TOKENS, HIDDEN), elementwise(ADD, 3, 3 * STATES_BYTES)),
        (*_states, *_states, ()),
    ),
    "AddBackward0",
)
_drop_out = differentiable(
    Op("triton_poi_fused_add_native_dropout_0", (empty(TOKENS, HIDDEN), TRITON_KERNEL), _states),
    "NativeDropoutBackward0",
    Op("aten::native_dropout_backward", (elementwise(MASKED_SCALE, 3, 5 * STATES_BYTES // 2),)),
)


def block_with(change: str | None) -> tuple[Differentiable, ...]:
    """The operators of a layer, with the part of a change that is inside it."""
    attention = MEMORY_EFFICIENT_KERNEL if change == "other_kernel" else FLASH_KERNEL
    if change == "slow_kernel":
        attention = replace(attention, time_percent=SLOWER_ATTENTION_PERCENT)
    inserted = (_clone,) if change == "inserted_op" else ()
    adapt = _adapt(TOKENS, SMALL_GEMM_KERNEL)
    if change == "other_shapes":
        columns, rows, _ = SMALL_GEMM_KERNEL.grid
        adapt = _adapt(
            2 * TOKENS,
            replace(
                SMALL_GEMM_KERNEL, grid=(columns, 2 * rows, 1), time_percent=TWICE_THE_ROWS_PERCENT
            ),
        )
    return (
        _normalise,
        _linear(HIDDEN, 3 * HIDDEN),
        _attend(attention),
        *inserted,
        _linear(HIDDEN, HIDDEN),
        _drop_out,
        _add,
        _normalise,
        adapt,
        _linear(HIDDEN, FFN),
        _activate,
        _linear(FFN, HIDDEN),
        _add,
    )


def _memcpy(name: str, size: int, low_ns: int, high_ns: int) -> Copy:
    return Copy("gpu_memcpy", name, size, low_ns, high_ns, "cudaMemcpyAsync")


def _memset(size: int, low_ns: int, high_ns: int) -> Copy:
    return Copy("gpu_memset", "Memset (Device)", size, low_ns, high_ns, "cudaMemsetAsync")


def _to_device(*dims: int) -> Op:
    """The copy of a small tensor of integers from pinned memory."""
    copy = _memcpy("Memcpy HtoD (Pinned -> Device)", 8 * prod(dims), 1_400, 1_800)
    return Op("aten::to", (Op("aten::copy_", (copy,)),), (dims,), dtype="long int")


# What comes before the layers. It hides the first all-gather, and in the backward pass the last
# reductions.
EMBED = differentiable(
    Op("aten::embedding", (empty(TOKENS, FFN), GATHER_KERNEL), ((VOCABULARY, FFN), (TOKENS,))),
    "EmbeddingBackward0",
    Op("aten::embedding_dense_backward", (EMBEDDING_GRADIENT_KERNEL,), ((TOKENS, FFN), (TOKENS,))),
)
PROJECT = _linear(FFN, HIDDEN)
LOSS = differentiable(
    Op(
        "aten::cross_entropy_loss",
        (
            Op(
                "aten::log_softmax",
                (empty(TOKENS, VOCABULARY), SOFTMAX_KERNEL),
                ((TOKENS, VOCABULARY),),
            ),
        ),
        ((TOKENS, VOCABULARY), (TOKENS,)),
    ),
    "LogSoftmaxBackward0",
    Op("aten::zeros", (Op("aten::zero_", (_memset(4_096, 1_200, 1_500),)),)),
    Op("aten::_log_softmax_backward_data", (SOFTMAX_GRADIENT_KERNEL,)),
)
INPUTS, LABELS = _to_device(TOKENS), _to_device(TOKENS)
OFFLOAD = Op(
    "aten::copy_",
    (_memcpy("Memcpy DtoH (Device -> Pinned)", 16_777_216, 300_000, 312_000),),
    _states,
)
ZERO_GRADIENTS = Op("aten::_foreach_zero_", (_memset(16_777_216, 7_000, 7_400),))
SCALAR = _memcpy("Memcpy DtoH (Device -> Pageable)", 2, 1_200, 1_900)
ITEM = Op("aten::item", (Op("aten::_local_scalar_dense", (SCALAR, StreamSync()), ((),)),), ((),))
GRADIENT_NORM = Op("aten::linalg_vector_norm", (NORM_KERNEL,), ((HIDDEN,),))
# A fixed number of launches. The optimizer's kernels run into the next step on the GPU, while that
# step loads its data.
ADAM = Op("aten::_fused_adamw_", (ADAM_KERNEL,) * 6, (((HIDDEN, HIDDEN),) * 2))
