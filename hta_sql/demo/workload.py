"""The model being trained, as templates: which operators run, what they launch, how long it takes.

A template says nothing of time or rank; `process` runs it. Templates compare by identity, so they
can be looked up fast however large they are.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

TOKENS, HIDDEN, FFN, ADAPTER, VOCABULARY = 1024, 4096, 16384, 64, 32000
# How bad a planted bottleneck or change is.
SLOW_ATTENTION_TIMES = 60
SLOWER_ATTENTION_PERCENT = 120
TWICE_THE_ROWS_PERCENT = 160


@dataclass(frozen=True, eq=False, slots=True)
class Kernel:
    """A kernel with its shape; `low_ns` to `high_ns` is its run time on a healthy GPU.

    It takes `time_percent` of what is drawn, so that a planted one draws like the healthy one.
    """

    category: ClassVar[str] = "kernel"
    name: str
    low_ns: int
    high_ns: int
    grid: tuple[int, int, int]
    block: tuple[int, int, int] = (128, 1, 1)
    registers: int = 32
    shared_bytes: int = 0
    call: str = "cudaLaunchKernel"
    kind: str = "computation"
    time_percent: int = 100


@dataclass(frozen=True, eq=False, slots=True)
class Copy:
    """A memcpy or memset of `bytes`."""

    kind: ClassVar[str] = "memory"
    time_percent: ClassVar[int] = 100
    category: str
    name: str
    bytes: int
    low_ns: int
    high_ns: int
    call: str


@dataclass(frozen=True, eq=False, slots=True)
class Tensor:
    """Memory taken from the caching allocator for the result of the operator around it."""

    bytes: int


@dataclass(frozen=True, eq=False, slots=True)
class Op:
    """A host event and what happens inside it, in order. `dims` are those of its inputs."""

    name: str
    body: tuple = ()
    dims: tuple[tuple[int, ...], ...] = ()
    category: str = "cpu_op"


@dataclass(frozen=True, eq=False, slots=True)
class Differentiable:
    """A forward operator and the autograd node that runs for it in the backward pass."""

    forward: Op
    backward: Op


def annotation(name: str) -> Op:
    """A `record_function` block."""
    return Op(name, category="user_annotation")


def python(name: str) -> Op:
    """A Python function, or an `nn.Module` when named so."""
    return Op(name, category="python_function")


def differentiable(forward: Op, node: str, *body) -> Differentiable:
    """Pair a forward operator with its node, wrapped as the autograd engine does."""
    inner = Op(node, body, forward.dims[:1])
    return Differentiable(forward, Op(f"autograd::engine::evaluate_function: {node}", (inner,)))


def _empty(*dims: int) -> Op:
    count = 2
    for size in dims:
        count *= size
    return Op("aten::empty", (Tensor(count),), ((),))


def _elementwise(functor: str, arity: int, low_ns: int, high_ns: int) -> Kernel:
    pointers = f"std::array<char*, {arity}ul>"
    return Kernel(
        f"void at::native::vectorized_elementwise_kernel<4, {functor}, {pointers} >"
        f"(int, {functor}, {pointers})",
        low_ns,
        high_ns,
        (TOKENS * HIDDEN // 512, 1, 1),
        registers=26,
    )


def _gemm(tile: str, low_ns: int, high_ns: int) -> Kernel:
    name = (
        f"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize{tile}_warpgroupsize2x1x1"
        "_execute_segment_k_off_kernel__5x_cublas"
    )
    return Kernel(
        name, low_ns, high_ns, (16, 8, 1), (384, 1, 1), 168, 213_016, "cudaLaunchKernelExC"
    )


ADD = "at::native::CUDAFunctor_add<c10::BFloat16>"
GELU = (
    "at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)"
    "::{lambda()#2}::operator()() const::{lambda()#4}::operator()() const"
    "::{lambda(c10::BFloat16)#1}"
)
GELU_BACKWARD = GELU.replace("GeluCUDAKernelImpl", "GeluBackwardCUDAKernelImpl")
MASKED_SCALE = (
    "at::native::(anonymous namespace)::masked_scale_kernel<bool, c10::BFloat16, float>"
    "(at::Tensor&, at::Tensor const&, at::Tensor const&, float)::{lambda(c10::BFloat16, bool)#1}"
)
COPY = (
    "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() const"
    "::{lambda()#12}::operator()() const::{lambda(c10::BFloat16)#1}"
)
COPY_LOOP = (
    f"at::native::gpu_kernel_impl_nocast<{COPY}>(at::TensorIteratorBase&, {COPY} const&)"
    "::{lambda(int)#1}"
)
CUTLASS = "cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x2_nt_align8"
FLASH = "Flash_fwd_kernel_traits<128, 128, 64, 4, false, false, cutlass::bfloat16_t>"
SUM = (
    "at::native::ReduceOp<c10::BFloat16, at::native::func_wrapper_t<c10::BFloat16, "
    "at::native::sum_functor<c10::BFloat16, float, c10::BFloat16>::operator()"
    "(at::TensorIterator&)::{lambda(float, float)#1}>, unsigned int, c10::BFloat16, 4, 4>"
)

LAYER_NORM_KERNEL = Kernel(
    "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float, "
    "false>(int, float, c10::BFloat16 const*, c10::BFloat16 const*, c10::BFloat16 const*, float*, "
    "float*, c10::BFloat16*)",
    11_000,
    14_000,
    (TOKENS, 1, 1),
    (32, 4, 1),
    40,
    24,
)
LAYER_NORM_GRADIENT_KERNEL = Kernel(
    "void at::native::(anonymous namespace)::layer_norm_grad_input_kernel_vectorized<c10::BFloat16,"
    " float, false>(c10::BFloat16 const*, c10::BFloat16 const*, float const*, float const*, "
    "c10::BFloat16 const*, c10::BFloat16*, int)",
    18_000,
    24_000,
    (TOKENS, 1, 1),
    (128, 1, 1),
    48,
    1024,
)
FLASH_KERNEL = Kernel(
    f"void pytorch_flash::flash_fwd_kernel<pytorch_flash::{FLASH}, false, true, false, false, "
    "true, true, false, false>(pytorch_flash::Flash_fwd_params)",
    48_000,
    60_000,
    (32, 4, 32),
    (128, 1, 1),
    255,
    65_536,
)
MEMORY_EFFICIENT_KERNEL = Kernel(
    "fmha_cutlassF_bf16_aligned_64x128_rf_sm80(PyTorchMemEffAttention::AttentionKernel<"
    "cutlass::bfloat16_t, cutlass::arch::Sm80, true, 64, 128, 128, true, true>::Params)",
    72_000,
    90_000,
    (16, 32, 4),
    (32, 4, 1),
    168,
    50_688,
)
FLASH_GRADIENT_KERNEL = Kernel(
    "void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<pytorch_flash::"
    "Flash_bwd_kernel_traits<128, 64, 128, 8, 2, 4, 2, false, false, cutlass::bfloat16_t>, false, "
    "true, false, false, true, true, false>(pytorch_flash::Flash_bwd_params)",
    120_000,
    150_000,
    (32, 4, 32),
    (256, 1, 1),
    255,
    147_456,
)
BIAS_SUM_KERNEL = Kernel(
    f"void at::native::reduce_kernel<128, 4, {SUM} >({SUM})",
    9_000,
    13_000,
    (HIDDEN // 128, 8, 1),
    (32, 16, 1),
    36,
    16,
)
SMALL_GEMM_KERNEL = Kernel(
    f"void cutlass::Kernel2<{CUTLASS}>({CUTLASS}::Params)",
    31_000,
    38_000,
    (128, 32, 1),
    (128, 1, 1),
    72,
    16_640,
    "cuLaunchKernelEx",
)
COPY_KERNEL = Kernel(
    f"void at::native::elementwise_kernel<128, 4, {COPY_LOOP}>(int, {COPY_LOOP})",
    12_000,
    15_000,
    (TOKENS * HIDDEN // 512, 1, 1),
)
TRITON_KERNEL = Kernel(
    "triton_poi_fused_add_native_dropout_0",
    9_000,
    12_000,
    (16_384, 1, 1),
    (128, 1, 1),
    24,
    0,
    "cuLaunchKernelEx",
)
SOFTMAX_KERNEL = Kernel(
    "void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, c10::BFloat16, float, "
    "c10::BFloat16, at::native::(anonymous namespace)::LogSoftMaxForwardEpilogue>"
    "(c10::BFloat16*, c10::BFloat16 const*, int)",
    85_000,
    99_000,
    (TOKENS, 1, 1),
    (1024, 1, 1),
    32,
    4224,
)
ADAM_KERNEL = Kernel(
    "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
    "namespace)::FusedOptimizerTensorListMetadata<4>, at::native::(anonymous namespace)::"
    "FusedAdamMathFunctor<float, 4, (at::native::ADAM_MODE)1, false>, float const*, double, "
    "double, double, double, double, bool, float const*, float const*>",
    150_000,
    190_000,
    (320, 1, 1),
    (512, 1, 1),
    64,
    0,
)


def _linear(rows: int, columns: int, low_ns: int, high_ns: int) -> Differentiable:
    """A linear layer of `columns` outputs over `rows` inputs each; times are the forward GEMM's."""
    input_dims, weight_dims = (TOKENS, rows), (columns, rows)
    transpose = Op(
        "aten::t", (Op("aten::transpose", (Op("aten::as_strided", (), (weight_dims,)),)),)
    )
    forward_gemm = _gemm("128x256x64", low_ns, high_ns)
    input_gemm = _gemm("256x128x64", low_ns, high_ns)
    weight_gemm = _gemm("64x256x64", low_ns, high_ns)
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
    """Attention whose forward pass launches this kernel."""
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
    """A product of `rows` rows with a small matrix."""
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
    Op(
        "aten::gelu", (_empty(TOKENS, FFN), _elementwise(GELU, 2, 38_000, 44_000)), ((TOKENS, FFN),)
    ),
    "GeluBackward0",
    Op("aten::gelu_backward", (_elementwise(GELU_BACKWARD, 3, 55_000, 63_000),)),
)
_add = differentiable(
    Op(
        "aten::add",
        (_empty(TOKENS, HIDDEN), _elementwise(ADD, 3, 12_000, 15_000)),
        (*_states, *_states, ()),
    ),
    "AddBackward0",
)
_drop_out = differentiable(
    Op("triton_poi_fused_add_native_dropout_0", (_empty(TOKENS, HIDDEN), TRITON_KERNEL), _states),
    "NativeDropoutBackward0",
    Op("aten::native_dropout_backward", (_elementwise(MASKED_SCALE, 3, 13_000, 16_000),)),
)


def block_with(bottleneck: str | None, change: str | None) -> tuple[Differentiable, ...]:
    """The operators of a layer, with whatever of a bottleneck or a change lies in them."""
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
# A fixed number of launches: the optimizer's GPU tail runs into the next step, and must be over
# well before that step has loaded its data.
ADAM = Op("aten::_fused_adamw_", (ADAM_KERNEL,) * 6, (((HIDDEN, HIDDEN),) * 2))
