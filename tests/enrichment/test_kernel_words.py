"""Short names of kernels whose names encode what they do, and of mangled names."""

import duckdb
import pytest

from hta_sql.catalogue.root import sql_root

# Of real traces; of long names, the part up to what the words say.
WORDS = {
    "Cijk_Ailk_Bljk_BBS_BH_Bias_HAS_SAV_MT128x64x32_MI32x32x1_SN": "Tensile gemm bf16 128x64x32 nn",
    "Cijk_Alik_Bljk_B_BS_BH_Bias_HA_S_SAV_UserArgs_MT16x16x256_MI16x16x1_SN_LDSB1": (
        "Tensile gemm bf16 16x16x256 tn"
    ),
    "Cijk_Ailk_Bjlk_SB_Bias_AS_SAV_UserArgs_MT64x16x16_MI16x16x1": "Tensile gemm fp32 64x16x16 nt",
    "Cijk_Alik_Bjlk_HHS_BH_MT32x32x16_SN_1LDSB0": "Tensile gemm fp16 32x32x16 tt",
    "Custom_Cijk_Alik_Bljk_F8BS_BH_Bias_MT256x256x128_MI16x16x1_SN": (
        "Tensile gemm fp8 256x256x128 tn"
    ),
    "Cijk_Ailk_Bljk_DB_MT64x64x8_SE": "Tensile gemm fp64 64x64x8 nn",
    "Cijk_Ailk_Bljk_I8II_BH_MT64x64x8_SE": "Tensile gemm int8 64x64x8 nn",
    "Cijk_S_PostGSU16": "Cijk_S_PostGSU16",
    "ampere_sgemm_128x64_tn": "cuBLAS gemm fp32 128x64 tn",
    "volta_sgemm_32x32_sliced1x4_nt": "cuBLAS gemm fp32 32x32 nt",
    "volta_dgemm_64x64_nn": "cuBLAS gemm fp64 64x64 nn",
    "ampere_gcgemm_64x64_nt": "cuBLAS gemm complex64 64x64 nt",
    "ampere_cf32_c1688gemm_64x64_nt": "cuBLAS gemm complex64 64x64 nt",
    "ampere_d884gemm_64x64_16x4_tn": "cuBLAS gemm fp64 64x64 tn",
    "ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_32x6_nn": "cuBLAS gemm fp16 128x64 nn",
    "ampere_bf16_s16816gemm_bf16_64x64_sliced1x2_ldg8_f2f_stages_64x5_tn": (
        "cuBLAS gemm bf16 64x64 tn"
    ),
    "ampere_s1688gemm_128x128_ldg8_stages_16x5_nn": "cuBLAS gemm tf32 128x128 nn",
    "volta_h884gemm_64x64_ldg8_nn": "cuBLAS gemm fp16 64x64 nn",
    "volta_scudnn_128x64_relu_small_nn_v1": "volta_scudnn_128x64_relu_small_nn_v1",
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x128x64_warpgroupsize1x1x1_execute": (
        "cuBLAS gemm bf16 64x128x64 tn"
    ),
    "sm89_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n_tilesize64x64x64_stage3": (
        "cuBLAS gemm fp8 64x64x64 tn"
    ),
    "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize32x32x8_stage3": "cuBLAS gemm fp32 32x32x8 nn",
    "sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128x64x16_s": (
        "cuDNN fprop tf32 128x64x16"
    ),
    "sm80_xmma_wgrad_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize64x128x32_stage5": (
        "cuDNN wgrad tf32 64x128x32"
    ),
    "nvjet_tst_144x128_64x6_2x1_v_bz_bias_TNN": "nvjet gemm bf16 144x128x64 tnn",
    "nvjet_sm100_tst_64x16_64x16_2x4_2cta_h_bz_splitK_TNT": "nvjet gemm bf16 64x16x64 tnt",
    "nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_NNT": "nvjet gemm fp16 128x256x64 nnt",
    "nvjet_qqtst_128x256": "nvjet_qqtst_128x256",
    "cutlass_80_tensorop_bf16_s16816gemm_bf16_128x128_32x5_nn_align8": (
        "CUTLASS gemm bf16 128x128x32 nn"
    ),
    "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_64x64_32x4_tn_align4>(cutlass_80_tenso": (
        "CUTLASS gemm tf32 64x64x32 tn"
    ),
    "void cutlass::Kernel2<cutlass_80_tensorop_s16816gemm_f16_64x64_32x6_nn_align8>(P)": (
        "CUTLASS gemm fp16 64x64x32 nn"
    ),
    "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_64x6_tn_align8>": (
        "CUTLASS gemm bf16 64x64x64 tn"
    ),
    "void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x2_tn_align8>": (
        "CUTLASS gemm bf16 32x32x128 tn"
    ),
    "void cutlass::Kernel<cutlass_80_simt_sgemm_128x32_8x5_nn_align1>(P)": (
        "CUTLASS gemm fp32 128x32x8 nn"
    ),
    "void C::Kernel<cutlass_tensorop_s1688dgrad_optimized_tf32_64x128_32x3_nhwc_align4>(P)": (
        "CUTLASS dgrad tf32 64x128x32 nhwc"
    ),
    "void cutlass::Kernel<cutlass_75_other>(P)": "cutlass::Kernel",
    "triton_poi_fused_add_mul_0": "Inductor pointwise: add, mul",
    "triton_poi_fused__unsafe_view_mul_silu_2": "Inductor pointwise: _unsafe_view, mul, silu",
    "triton_red_fused_add_mean_mul_pow_rsqrt_0": "Inductor reduction: add, mean, mul, pow, rsqrt",
    "triton_per_fused_add_native_layer_norm_native_dropout_11": (
        "Inductor persistent reduction: add, native_layer_norm, native_dropout"
    ),
    "triton_tem_fused_mm_3": "Inductor template: mm",
    "triton_for_fused_add_1": "Inductor foreach: add",
    "triton_poi_fused_bitwise_and_bitwise_not_ge_5": (
        "Inductor pointwise: bitwise_and, bitwise_not, ge"
    ),
    "triton_red_fused__log_softmax__to_copy_nll_loss_forward_5": (
        "Inductor reduction: _log_softmax, _to_copy, nll_loss_forward"
    ),
    "triton_poi_fused_0": "triton_poi_fused_0",
    "triton_mine": "triton_mine",
}

MANGLED = {
    "_ZN2ns1fIfEEvPT_": "ns::f",
    "_Z4siluIfEvT_": "silu",
    "_ZL3foov": "foo",
    "_ZNK1a1bEv": "a::b",
    "_ZN12_GLOBAL__N_13fooEv": "foo",
    "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16ELb1ELb0ELb1ELi1EEEvPT0_PT_PfS4_": (
        "aiter::add_rmsnorm_quant_kernel"
    ),
    "_ZN2ck16tensor_operation6device12_GLOBAL__N_149kernel_grouped_conv_fwd_multiple_abd_xdl_cshuff"
    "leINS_34GridwiseGemmMultipleD": (
        "ck::tensor_operation::device::kernel_grouped_conv_fwd_multiple_abd_xdl_cshuffle"
    ),
    "_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdINS_27Rmsnorm2dFwdPipelineOnePassINS_27R": (
        "ck_tile::Rmsnorm2dFwd"
    ),
    "_ZN7ck_tile6kentryILi2ENS_13FmhaFwdKernelINS_30BlockFmhaPipelineQRKSVS": (
        "ck_tile::FmhaFwdKernel"
    ),
    "_ZN19cutlass_cudnn_train6KernelINS_4conv6kernel23ImplicitGemmConvolutionINS1_11thread": (
        "cutlass_cudnn_train::conv::kernel::ImplicitGemmConvolution"
    ),
    "_Z": "_Z",
    "_Zxyz": "_Zxyz",
    "_ZN9999a": "_ZN9999a",
    "_ZN3ab": "_ZN3ab",
}


@pytest.fixture(scope="module")
def con():
    con = duckdb.connect()
    for name in ("demangled_name", "kernel_words", "short_name"):
        con.execute((sql_root() / "relations/names" / f"{name}.sql").read_text())
    return con


@pytest.mark.parametrize(("name", "short"), (WORDS | MANGLED).items())
def test_short_names(con, name, short):
    assert con.execute("SELECT short_name($1)", [name]).fetchall() == [(short,)]


def test_tiles_and_types_tell_kernels_apart(con):
    names = [
        f"Cijk_Ailk_Bljk_{kind}_BH_MT{tile}_MI16x16x1_SN"
        for kind in ("BBS", "HHS")
        for tile in ("64x64x32", "64x64x64", "64x128x32")
    ]
    [(count,)] = con.execute(
        "SELECT count(DISTINCT short_name(name)) FROM (SELECT unnest($1) AS name)", [names]
    ).fetchall()
    assert count == len(names)
