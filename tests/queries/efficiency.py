"""Efficiency."""

SEEDS = range(5)


JOBS = 25  # in one table, so that a few hundred small cases cost a few dozen calls


# Each rule of tensor_core_use with names of its kernels.
ON_TENSOR_CORES = [
    (
        "cuBLAS and cuDNN, xmma",
        [
            "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64_warpgroupsize1x1x1"
            "_execute_segment_k_off_kernel__5x_cublas",
            "sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nchw"
            "_tilesize128x128x16_stage4_warpsize2x2x1_g1_tensor16x8x8_alignc4_execute_kernel_cudnn",
            "sm89_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n_tilesize64x64x64_stage3_warpsize2x2x1"
            "_tensor16x8x32_execute_kernel__5x_cublas",
        ],
    ),
    (
        "tile shape",
        [
            "volta_h884gemm_128x64_ldg8_nn",
            "volta_fp16_s884gemm_fp16_128x64_ldg8_f2f_nn",
            "volta_s884cudnn_fp16_128x128_ldg8_wgrad_idx_exp_interior_nhwc_nt_v1",
            "turing_fp16_s1688cudnn_fp16_256x64_ldg8_relu_f2f_exp_small_nhwc2nchw_tn_v1",
            "turing_h1688gemm_256x64_ldg8_tn",
            "turing_int8_i8816gemm_int8_128x64_ldg16_relu_tn",
            "ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_32x6_nn",
            "ampere_bf16_s16816gemm_bf16_64x64_sliced1x2_ldg8_f2f_stages_64x5_tn",
            "ampere_cf32_c1688gemm_64x64_nt",
            "ampere_d884gemm_64x64_16x4_tn",
            "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x128_16x4_nn_align4>(int)",
            "void "
            "cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x2>(int)",
            "void cutlass_cudnn_infer::Kernel<cutlass_tensorop_s1688dgrad_optimized_tf32_128>(int)",
            "cutlass_80_tensorop_s16832spgemm_f16_128x128",
        ],
    ),
    (
        "cuBLAS, nvjet",
        [
            "nvjet_tst_192x8_64x8_4x1_v_bz_TNT",
            "nvjet_sm100_tst_64x16_64x16_2x4_2cta_h_bz_splitK_TNT",
            "nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_NNT",
        ],
    ),
    (
        "instruction",
        [
            "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x64_4x1x1",
            "cudnn_generated_fort_native_sdpa_sm80_flash_fprop_wmma_f16_knob_7_64x64x64_4x1x1",
            "hmma_gemm",
            "my_imma_kernel",
            "fp8_qgmma_kernel",
            "f64_dmma_kernel",
            "gemm_tcgen05_kernel",
            "bf16_utchmma_kernel",
            "fp8_UTCQMMA",
            "void simple_wmma_gemm<16>(float*)",
        ],
    ),
    (
        "CUTLASS, tensor op",
        [
            "void cutlass::device_kernel<cutlass3x_sm90_tensorop_h64x128x16_f16>(int)",
            "void cutlass::Kernel<cutlass::gemm::kernel::Gemm<cutlass::arch::OpClassTensorOp> "
            ">(int)",
            "_ZN19cutlass_cudnn_train6KernelINS_4conv6kernel23ImplicitGemmConvolution4warp11"
            "MmaTensorOpINS7_ILi64ELi64ELi32EEE",
        ],
    ),
    (
        "CUTLASS, matrix instruction",
        [
            "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cutlass::gemm::"
            "MainloopSm90TmaGmmaWarpSpecialized<4> > >(int)",
            "void f<cute::TiledMMA<cute::MMA_Atom<cute::SM80_16x8x16_F32BF16BF16F32_TN> > >(int)",
            "void f<cute::MMA_Atom<cute::SM90_64x128x16_F32F16F16_SS> >(int)",
            "void f<cute::MMA_Atom<cute::SM100_MMA_F16BF16_SS<cutlass::bfloat16_t> > >(int)",
            "void f<cutlass::gemm::MainloopSm100TmaUmmaWarpSpecialized<3> >(int)",
        ],
    ),
    (
        "flash attention",
        [
            "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64> "
            ">(int)",
            "void flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, 64> >(Flash_fwd_params)",
            "void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<pytorch_flash::"
            "Flash_bwd_kernel_traits<128> >(int)",
            "void "
            "cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<1> > >()",
        ],
    ),
    (
        "memory-efficient attention",
        [
            "fmha_cutlassF_bf16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::Params)",
            "fmha_cutlassF_f16_aligned_32x128_gmem_sm75(PyTorchMemEffAttention::Params)",
            "fmha_cutlassB_f32_aligned_64x64_k32_sm80(PyTorchMemEffAttention::Params)",
        ],
    ),
    (
        "TensorRT-LLM",
        [
            "fmhaSm100aKernel_QkvE4m3OBfloat16H64PagedKvCausalP16VarSeqQ128Kv128PersistentContext",
            "fmha_v2_flash_attention_fp16_S_40_sm80_kernel",
            "bmm_Bfloat16_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_et128x16_m128x16x32_cga1x1x1_sm100f",
            "gemm_Bfloat16_E4m3E4m3_Fp32_t128x8x128_s7_et128x8_m128x8x32_cga1x1x1_sm100a",
        ],
    ),
    (
        "FlashInfer",
        ["void flashinfer::BatchPrefillWithPagedKVCacheKernel<(flashinfer::MaskMode)1>(int)"],
    ),
    (
        "Marlin",
        [
            "void Marlin<256, 4, 16, 4, 4, false, 4, 8>(int4 const*)",
            "void marlin::Marlin<__nv_bfloat16, 1125899906843648l, 256>(int4 const*)",
        ],
    ),
    (
        "DeepGEMM",
        [
            "void deep_gemm::fp8_gemm_kernel<4096u, 7168u>(float*)",
            "void deep_gemm::sm90_fp8_gemm_1d2d_impl<0u, 4096u>(float*)",
            "void deep_gemm::sm90_bf16_gemm_impl<0u, 4096u>(float*)",
        ],
    ),
    (
        "AMD, matrix instruction",
        [
            "void ck::kernel_gemm_xdl_cshuffle_v3<ck::GridwiseGemm_xdl_cshuffle_v3<1> >(int)",
            "gridwise_convolution_implicit_gemm_v4r4_xdlops_nchw_kcyx_nkhw",
            "void ck_tile::kentry<ck_tile::GemmKernel<ck_tile::WarpGemmAttributeMfma<1> > >(int)",
        ],
    ),
    (
        "rocBLAS and hipBLASLt",
        [
            "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x192x64_MI16x16x1_SN_LDSB1_AFC1",
            "Custom_Cijk_Alik_Bljk_F8BS_BH_Bias_MT256x256x128_MI16x16x1_SN",
            "Cijk_Ailk_Bljk_SB_MT64x64x16_MI32x32x2x1_SE_1LDSB0",
        ],
    ),
    ("MIOpen", ["igemm_fwd_gtcx2_nhwc_bf16_bx0_ex1_bt128x128x32_wt32x32x8_ws1x1_wr2x2"]),
    (
        "Composable Kernel attention",
        [
            "void ck_tile::kentry<256, 2, ck_tile::FmhaFwdKernel<ck_tile::BlockFmha<1> > >(int)",
            "void ck_tile::kentry<256, 2, ck_tile::FmhaBwdDQDKDVKernel<1> >(int)",
        ],
    ),
]


# On CUDA cores, helpers of the above, or without a word about it.
NOT_SAID = [
    None,
    "",
    "ampere_sgemm_128x64_nn",
    "volta_sgemm_32x128_nt",
    "ampere_gcgemm_64x64_nt",
    "cudnn_ampere_scudnn_128x64_relu_xregs_large_nn_v1",
    "volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1",
    "void cutlass::Kernel<cutlass_80_simt_sgemm_128x32_8x5_nn_align1>(int)",
    "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize32x32x8_stage3_warpsize1x2x1_ffma"
    "_aligna4_alignc4_execute_kernel__51_cublas",
    "sm80_xmma_wgrad_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nhwc"
    "_tilesize128x128x16_stage4_warpsize2x2x1_g1_tensor16x8x8_execute_split_k_kernel_cudnn",
    "void cublasLt::splitKreduce_kernel<32, 16, int, float>(cublasLt::cublasSplitKParams<float>)",
    "SubTensorOpWithScalar1d",
    "SubTensorOpWithCastTensor1d",
    "void at::native::GammaBetaBackwardCUDAKernel<float, float>(long, long)",
    "void vectorized_elementwise_kernel_sm90<4, 16816, 884>(int)",
    "void f<cute::Copy_Atom<cute::SM90_TMA_LOAD, cutlass::bfloat16_t> >(int)",
    "void f<cute::SM90_BULK_COPY_AUTO>(int)",
    "void pytorch_flash::flash_bwd_dot_do_o_kernel<pytorch_flash::Flash_bwd_kernel_traits<1> >()",
    "void pytorch_flash::flash_bwd_convert_dq_kernel<pytorch_flash::Flash_bwd_kernel_traits<1> >()",
    "void pytorch_flash::flash_fwd_splitkv_combine_kernel<Flash_fwd_kernel_traits<64> >(int)",
    "void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16>(int)",
    "fmha_cutlassF_f32_aligned_64x64_rf_sm75(PyTorchMemEffAttention::Params)",
    "fmha_cutlassF_f16_aligned_64x64_rf_sm50(PyTorchMemEffAttention::Params)",
    "void gptq_marlin_repack_kernel<256, 4>(unsigned int const*)",
    "void deep_gemm::transpose_fp32<512u, (deep_gemm::GemmType)0>(float const*)",
    "void flashinfer::BatchDecodeWithPagedKVCacheKernel<1>(int)",
    "fmhaReductionKernel",
    "bmm_reference_kernel",
    "triton_tem_fused_mm_0",
    "triton_poi_fused_convolution_conv1x1_relu_3",
    "attn_fwd",
    "matmul_kernel",
    "Cijk_Alik_Bljk_SB_MT32x32x16_SN_K1_ISA906_TT4_4_VW2_WG8_8_1",
    "igemm_fwd_gtcn2_nchwc_kcyxc_fp16x8_bx0_ex1_bt128x128x16",
    "void ck_tile::kentry<256, 2, ck_tile::FmhaFwdSplitKVCombineKernel<1> >(int)",
    "void ck_tile::kentry<256, 2, ck_tile::FmhaBwdOGradDotOKernel<1> >(int)",
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "Memcpy DtoD (Device -> Device)",
]
