"""The kernels that the model runs on an H100, and the sizes of its tensors."""

from hta_sql.demo.operators import Kernel

TOKENS, HIDDEN, FFN, ADAPTER, VOCABULARY = 1024, 4096, 16384, 64, 32000
# Bytes of a tensor in bfloat16.
STATES_BYTES, FFN_BYTES = 2 * TOKENS * HIDDEN, 2 * TOKENS * FFN
# Peaks of an H100: operations and bytes per ns. What a good kernel reaches of them in percent.
PEAK_BF16, PEAK_FP32, PEAK_MEMORY = 989_000, 67_000, 3_350
LARGE_GEMM_PERCENT, SMALL_GEMM_PERCENT, MEMORY_PERCENT = 70, 62, 78
SMALL_GEMM_FLOPS = 50_000_000_000


def around(ns: int) -> tuple[int, int]:
    """The range of durations whose mean is this: 2 % to both sides."""
    return ns - ns // 50, ns + ns // 50


def moving(size: int) -> tuple[int, int]:
    """Durations of a kernel that moves so many bytes and does little else."""
    return around(size * 100 // (PEAK_MEMORY * MEMORY_PERCENT))


def multiplying(flops: int, percent: int = 0, peak: int = PEAK_BF16) -> tuple[int, int]:
    """Durations of a matrix product that reaches so much of the peak; by its size if not given."""
    of_size = SMALL_GEMM_PERCENT if flops < SMALL_GEMM_FLOPS else LARGE_GEMM_PERCENT
    return around(flops * 100 // (peak * (percent or of_size)))


def elementwise(functor: str, arity: int, size: int) -> Kernel:
    """A pointwise kernel with `arity` pointers that moves `size` bytes."""
    pointers = f"std::array<char*, {arity}ul>"
    return Kernel(
        f"void at::native::vectorized_elementwise_kernel<4, {functor}, {pointers} >"
        f"(int, {functor}, {pointers})",
        *moving(size),
        (TOKENS * HIDDEN // 512, 1, 1),
        registers=26,
    )


def gemm(tile: str, flops: int) -> Kernel:
    """A matrix product in bfloat16."""
    name = (
        f"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize{tile}_warpgroupsize2x1x1"
        "_execute_segment_k_off_kernel__5x_cublas"
    )
    return Kernel(
        name, *multiplying(flops), (16, 8, 1), (384, 1, 1), 168, 213_016, "cudaLaunchKernelExC"
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


def bias_sum(columns: int) -> Kernel:
    """The sum over the rows of a matrix."""
    return Kernel(
        f"void at::native::reduce_kernel<128, 4, {SUM} >({SUM})",
        *moving(2 * TOKENS * columns),
        (columns // 128, 8, 1),
        (32, 16, 1),
        36,
        16,
    )


LAYER_NORM_KERNEL = Kernel(
    "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float, "
    "false>(int, float, c10::BFloat16 const*, c10::BFloat16 const*, c10::BFloat16 const*, float*, "
    "float*, c10::BFloat16*)",
    *moving(2 * STATES_BYTES),
    (TOKENS, 1, 1),
    (32, 4, 1),
    40,
    24,
)
LAYER_NORM_GRADIENT_KERNEL = Kernel(
    "void at::native::(anonymous namespace)::layer_norm_grad_input_kernel_vectorized<c10::BFloat16,"
    " float, false>(c10::BFloat16 const*, c10::BFloat16 const*, float const*, float const*, "
    "c10::BFloat16 const*, c10::BFloat16*, int)",
    *moving(3 * STATES_BYTES),
    (TOKENS, 1, 1),
    (128, 1, 1),
    48,
    1024,
)
FLASH_KERNEL = Kernel(
    f"void pytorch_flash::flash_fwd_kernel<pytorch_flash::{FLASH}, false, true, false, false, "
    "true, true, false, false>(pytorch_flash::Flash_fwd_params)",
    *multiplying(4 * TOKENS * TOKENS * HIDDEN, 50),
    (32, 4, 32),
    (128, 1, 1),
    255,
    65_536,
)
MEMORY_EFFICIENT_KERNEL = Kernel(
    "fmha_cutlassF_bf16_aligned_64x128_rf_sm80(PyTorchMemEffAttention::AttentionKernel<"
    "cutlass::bfloat16_t, cutlass::arch::Sm80, true, 64, 128, 128, true, true>::Params)",
    # Half as long again as flash attention.
    *multiplying(6 * TOKENS * TOKENS * HIDDEN, 50),
    (16, 32, 4),
    (32, 4, 1),
    168,
    50_688,
)
FLASH_GRADIENT_KERNEL = Kernel(
    "void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<pytorch_flash::"
    "Flash_bwd_kernel_traits<128, 64, 128, 8, 2, 4, 2, false, false, cutlass::bfloat16_t>, false, "
    "true, false, false, true, true, false>(pytorch_flash::Flash_bwd_params)",
    *multiplying(10 * TOKENS * TOKENS * HIDDEN, 45),
    (32, 4, 32),
    (256, 1, 1),
    255,
    147_456,
)
SMALL_GEMM_KERNEL = Kernel(
    f"void cutlass::Kernel2<{CUTLASS}>({CUTLASS}::Params)",
    *around(12_000),
    (128, 32, 1),
    (128, 1, 1),
    72,
    16_640,
    "cuLaunchKernelEx",
)
COPY_KERNEL = Kernel(
    f"void at::native::elementwise_kernel<128, 4, {COPY_LOOP}>(int, {COPY_LOOP})",
    *around(13_500),
    (TOKENS * HIDDEN // 512, 1, 1),
)
TRITON_KERNEL = Kernel(
    "triton_poi_fused_add_native_dropout_0",
    *moving(3 * STATES_BYTES),
    (16_384, 1, 1),
    (128, 1, 1),
    24,
    0,
    "cuLaunchKernelEx",
)
SOFTMAX_GRADIENT_KERNEL = Kernel(
    "void at::native::(anonymous namespace)::cunn_SoftMaxBackward<8, c10::BFloat16, float, "
    "c10::BFloat16, at::native::(anonymous namespace)::LogSoftMaxBackwardEpilogue>"
    "(c10::BFloat16*, c10::BFloat16 const*, c10::BFloat16 const*, int)",
    *moving(6 * TOKENS * VOCABULARY),
    (TOKENS, 1, 1),
    (1024, 1, 1),
    40,
    4224,
)
GATHER_KERNEL = Kernel(
    "void at::native::(anonymous namespace)::vectorized_gather_kernel<16, long>(char*, char*, long*"
    ", int, long, long, long, long, bool)",
    *moving(2 * FFN_BYTES),
    (TOKENS, 8, 1),
    (256, 1, 1),
)
EMBEDDING_GRADIENT_KERNEL = Kernel(
    "void at::native::(anonymous namespace)::embedding_backward_feature_kernel<c10::BFloat16, float"
    ", long>(long const*, c10::BFloat16 const*, c10::BFloat16*, int, long, int)",
    *moving(2 * FFN_BYTES),
    (FFN // 32, 1, 1),
    (32, 32, 1),
    40,
    12_672,
)
NORM_KERNEL = Kernel(
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
    "at::native::NormTwoOps<float, float, float>, unsigned int, float, 4, 4> >"
    "(at::native::ReduceOp<float, at::native::NormTwoOps<float, float, float>, unsigned int, "
    "float, 4, 4>)",
    *around(3_500),
    (1, 1, 1),
    (512, 1, 1),
    32,
    16,
)
SOFTMAX_KERNEL = Kernel(
    "void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, c10::BFloat16, float, "
    "c10::BFloat16, at::native::(anonymous namespace)::LogSoftMaxForwardEpilogue>"
    "(c10::BFloat16*, c10::BFloat16 const*, int)",
    *moving(4 * TOKENS * VOCABULARY),
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
    *around(170_000),
    (320, 1, 1),
    (512, 1, 1),
    64,
    0,
)
