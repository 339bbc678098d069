"""The kernels that the model runs, and the sizes of its tensors."""

from hta_sql.demo.operators import Kernel

TOKENS, HIDDEN, FFN, ADAPTER, VOCABULARY = 1024, 4096, 16384, 64, 32000


def elementwise(functor: str, arity: int, low_ns: int, high_ns: int) -> Kernel:
    pointers = f"std::array<char*, {arity}ul>"
    return Kernel(
        f"void at::native::vectorized_elementwise_kernel<4, {functor}, {pointers} >"
        f"(int, {functor}, {pointers})",
        low_ns,
        high_ns,
        (TOKENS * HIDDEN // 512, 1, 1),
        registers=26,
    )


def gemm(tile: str, low_ns: int, high_ns: int) -> Kernel:
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
