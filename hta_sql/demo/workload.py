"""The model in training, as templates: its operators, what they launch, and how long that takes.

A template has no start times and no rank; `process` runs it. Templates are compared by identity, so
that lookups are fast however large a template is.
"""

from dataclasses import replace

from hta_sql.demo.kernels import (
    ADAM_KERNEL,
    ADAPTER,
    ADD,
    BIAS_SUM_KERNEL,
    COPY_KERNEL,
    FFN,
    FLASH_GRADIENT_KERNEL,
    FLASH_KERNEL,
    GELU,
    GELU_BACKWARD,
    HIDDEN,
    LAYER_NORM_GRADIENT_KERNEL,
    LAYER_NORM_KERNEL,
    MASKED_SCALE,
    MEMORY_EFFICIENT_KERNEL,
    SMALL_GEMM_KERNEL,
    SOFTMAX_KERNEL,
    TOKENS,
    TRITON_KERNEL,
    VOCABULARY,
    elementwise,
    gemm,
)
from hta_sql.demo.operators import Copy, Differentiable, Kernel, Op, Tensor, differentiable

# How much longer a bottleneck or a change takes.
SLOW_ATTENTION_TIMES = 60
SLOWER_ATTENTION_PERCENT = 120
TWICE_THE_ROWS_PERCENT = 160


def _empty(*dims: int) -> Op:
    count = 2
    for size in dims:
        count *= size
    return Op("aten::empty", (Tensor(count),), ((),))


def _linear(rows: int, columns: int, low_ns: int, high_ns: int) -> Differentiable:
    """A linear layer with `rows` inputs and `columns` outputs. Times are the forward GEMM's."""
    input_dims, weight_dims = (TOKENS, rows), (columns, rows)
    transpose = Op(
        "aten::t", (Op("aten::transpose", (Op("aten::as_strided", (), (weight_dims,)),)),)
    )
    forward_gemm = gemm("128x256x64", low_ns, high_ns)
    input_gemm = gemm("256x128x64", low_ns, high_ns)
    weight_gemm = gemm("64x256x64", low_ns, high_ns)
    dims = (input_dims, weight_dims, (columns,))
    multiply = Op(
        "aten::addmm",
        (_empty(TOKENS, columns), forward_gemm),
        ((columns,), input_dims, (rows, columns)),
    )
    return differentiable(
        Op("aten::linear", (transpose, multiply), dims),
        "AddmmBackward0",
        transpose,
        Op("aten::mm", (_empty(TOKENS, rows), input_gemm), ((TOKENS, columns), weight_dims)),
        Op("aten::mm", (_empty(columns, rows), weight_gemm), ((columns, TOKENS), input_dims)),
        Op("aten::sum", (BIAS_SUM_KERNEL,), ((TOKENS, columns), (), ())),
    )


def _attend(kernel: Kernel) -> Differentiable:
    """Attention. Its forward pass launches this kernel."""
    return differentiable(
        Op(
            "aten::scaled_dot_product_attention",
            (
                Op(
                    "aten::_scaled_dot_product_flash_attention",
                    (Op("aten::_flash_attention_forward", (_empty(TOKENS, HIDDEN), kernel)),),
                ),
            ),
            ((4, 32, 1024, 128),) * 3,
        ),
        "ScaledDotProductFlashAttentionBackward0",
        Op("aten::_flash_attention_backward", (_empty(TOKENS, 3 * HIDDEN), FLASH_GRADIENT_KERNEL)),
    )


def _adapt(rows: int, kernel: Kernel) -> Differentiable:
    """The product of a matrix of `rows` rows with a small matrix."""
    input_dims = (rows, HIDDEN)
    multiply = Op("aten::mm", (_empty(rows, ADAPTER), kernel), (input_dims, (HIDDEN, ADAPTER)))
    return differentiable(
        Op("aten::matmul", (multiply,), (input_dims,)),
        "MmBackward0",
        Op("aten::mm", (_empty(rows, HIDDEN), kernel), ((rows, ADAPTER), (ADAPTER, HIDDEN))),
    )


_states = ((TOKENS, HIDDEN),)
_normalise = differentiable(
    Op(
        "aten::layer_norm",
        (Op("aten::native_layer_norm", (_empty(TOKENS, HIDDEN), LAYER_NORM_KERNEL), _states),),
        _states,
    ),
    "NativeLayerNormBackward0",
    Op("aten::native_layer_norm_backward", (_empty(TOKENS, HIDDEN), LAYER_NORM_GRADIENT_KERNEL)),
)
_clone = differentiable(
    Op(
        "aten::clone",
        (
            Op("aten::empty_like", (_empty(TOKENS, HIDDEN),), _states),
            Op("aten::copy_", (COPY_KERNEL,), _states * 2),
        ),
        _states,
    ),
    "CloneBackward0",
)
_activate = differentiable(
    Op("aten::gelu", (_empty(TOKENS, FFN), elementwise(GELU, 2, 38_000, 44_000)), ((TOKENS, FFN),)),
    "GeluBackward0",
    Op("aten::gelu_backward", (elementwise(GELU_BACKWARD, 3, 55_000, 63_000),)),
)
_add = differentiable(
    Op(
        "aten::add",
        (_empty(TOKENS, HIDDEN), elementwise(ADD, 3, 12_000, 15_000)),
        (*_states, *_states, ()),
    ),
    "AddBackward0",
)
_drop_out = differentiable(
    Op("triton_poi_fused_add_native_dropout_0", (_empty(TOKENS, HIDDEN), TRITON_KERNEL), _states),
    "NativeDropoutBackward0",
    Op("aten::native_dropout_backward", (elementwise(MASKED_SCALE, 3, 13_000, 16_000),)),
)


def block_with(bottleneck: str | None, change: str | None) -> tuple[Differentiable, ...]:
    """The operators of a layer, with the parts of a bottleneck or change that are inside it."""
    attention = MEMORY_EFFICIENT_KERNEL if change == "other_kernel" else FLASH_KERNEL
    percent = SLOWER_ATTENTION_PERCENT if change == "slow_kernel" else 100
    times = SLOW_ATTENTION_TIMES if bottleneck == "compute" else 1
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
        _linear(HIDDEN, 3 * HIDDEN, 140_000, 160_000),
        _attend(replace(attention, time_percent=times * percent)),
        *inserted,
        _linear(HIDDEN, HIDDEN, 50_000, 58_000),
        _drop_out,
        _add,
        _normalise,
        adapt,
        _linear(HIDDEN, FFN, 185_000, 210_000),
        _activate,
        _linear(FFN, HIDDEN, 185_000, 210_000),
        _add,
    )


LOSS = differentiable(
    Op(
        "aten::cross_entropy_loss",
        (
            Op(
                "aten::log_softmax",
                (_empty(TOKENS, VOCABULARY), SOFTMAX_KERNEL),
                ((TOKENS, VOCABULARY),),
            ),
        ),
        ((TOKENS, VOCABULARY), (TOKENS,)),
    ),
    "LogSoftmaxBackward0",
    Op(
        "aten::zeros",
        (
            Op(
                "aten::zero_",
                (
                    Copy(
                        "gpu_memset",
                        "Memset (Device)",
                        262_144_000,
                        98_000,
                        104_000,
                        "cudaMemsetAsync",
                    ),
                ),
            ),
        ),
    ),
)
INPUTS = Op(
    "aten::to",
    (
        Op(
            "aten::copy_",
            (
                Copy(
                    "gpu_memcpy",
                    "Memcpy HtoD (Pinned -> Device)",
                    33_554_432,
                    610_000,
                    660_000,
                    "cudaMemcpyAsync",
                ),
            ),
        ),
    ),
    _states,
)
LABELS = Op(
    "aten::to",
    (
        Op(
            "aten::copy_",
            (
                Copy(
                    "gpu_memcpy",
                    "Memcpy HtoD (Pageable -> Device)",
                    2_097_152,
                    160_000,
                    190_000,
                    "cudaMemcpyAsync",
                ),
            ),
        ),
    ),
    ((TOKENS,),),
)
SCALAR = Copy("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 2, 1_200, 1_900, "cudaMemcpyAsync")
OFFLOAD = Op(
    "aten::copy_",
    (
        Copy(
            "gpu_memcpy",
            "Memcpy DtoH (Device -> Pinned)",
            16_777_216,
            300_000,
            340_000,
            "cudaMemcpyAsync",
        ),
    ),
    _states,
)
ZERO_GRADIENTS = Op(
    "aten::_foreach_zero_",
    (Copy("gpu_memset", "Memset (Device)", 16_777_216, 9_000, 11_000, "cudaMemsetAsync"),),
)
# A fixed number of launches. The optimizer's kernels run into the next step on the GPU, and must
# end well before that step has loaded its data.
ADAM = Op("aten::_fused_adamw_", (ADAM_KERNEL,) * 6, (((HIDDEN, HIDDEN),) * 2))
