"""Rules of kernel categories: each with its own example, and what real kernels are."""

import pytest
from categories.examples import EXAMPLES
from queries.small_tables import SmallTables

CATEGORIES = {
    "activation",
    "attention",
    "communication",
    "compiled",
    "convolution",
    "copy_layout",
    "elementwise",
    "embedding",
    "gemm",
    "grouped_gemm",
    "loss",
    "memory",
    "normalization",
    "optimizer",
    "other",
    "quantization",
    "reduction",
    "rope",
    "sampling",
    "softmax",
    "sort_scan",
    "wait",
}

# Kernels of real traces, and the operator that launched them.
KERNELS = [
    ("gemm", "void gemvNSP_kernel<float, float, float, float, 1, 32>(cublasGemvParams)", None),
    ("gemm", "void splitKreduce_kernel<32, 16, int, float>(cublasSplitKParams<float>)", None),
    ("gemm", "void at::native::elementwise_kernel<128, 2, direct_copy_kernel_cuda>", "aten::addmm"),
    ("gemm", "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT32x32x256", "aiter::gemm_a16w16"),
    ("gemm", "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64>()", None),
    ("gemm", "nvjet_tst_64x16_64x16_2x4_2cta_h_bz_bias_TNT", "vllm::rocm_unquantized_gemm"),
    ("convolution", "volta_sgemm_32x128_nn", "aten::cudnn_convolution"),
    ("convolution", "batched_transpose_32x32_half", "aten::miopen_convolution"),
    ("copy_layout", "batched_transpose_32x32_half", None),
    ("copy_layout", "SubTensorOpWithCastTensor1d", None),
    ("convolution", "cudnn_infer_volta_scudnn_128x64_relu_xregs_large_nn_v1", None),
    ("convolution", "void fft2d_r2c_32x32<float, false, 5u, true>(float2*, float const*)", None),
    ("convolution", "sm80_xmma_dgrad_implicit_gemm_tf32f32_tilesize64x128x32", None),
    ("attention", "_ZN7ck_tile6kentryILi2ENS_38FmhaBatchPrefillWithPagedKVCacheKernelI", None),
    ("attention", "attn_fwd", "aten::_flash_attention_forward"),
    ("attention", "reduce_segments", "vllm::unified_attention_with_output"),
    ("attention", "kernel_42", "vllm::unified_attention_with_output"),
    ("attention", "void paged_attention_ll4mi_QKV_mfma16_kernel<0, Fp8KVCacheDataType>()", None),
    ("copy_layout", "void vllm::reshape_and_cache_flash_kernel<vllm::Fp8KVCacheDataType>()", None),
    ("quantization", "tensorrt_llm::kernels::quantize_with_block_size<2>", "vllm::moe_forward"),
    ("grouped_gemm", "_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu", None),
    ("grouped_gemm", "bmm_MxE4m3_MxE2m1MxE4m3_Fp32_swiGlu_dynBatch_sm100f", "vllm::moe_forward"),
    ("grouped_gemm", "_finalize_matmul_scatter_bf16", None),
    ("gemm", "nvjet_tst_192x8_64x8_4x1_v_bz_TNT", "vllm::moe_forward"),
    ("grouped_gemm", "kernel_42", "vllm::moe_forward"),
    ("normalization", "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256E", None),
    ("normalization", "_layer_norm_fwd_fused", None),
    ("normalization", "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, int, 512>", None),
    ("softmax", "void at::native::cunn_SoftMaxForwardReg<c10::BFloat16, float>()", None),
    ("rope", "void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*)", None),
    (
        "activation",
        "void at::native::vectorized_elementwise_kernel<4, launch_clamp_scalar>",
        "aten::clamp_min_",
    ),
    ("elementwise", "void at::native::vectorized_elementwise_kernel<4, launch_clamp_scalar>", None),
    (
        "activation",
        "at::native::vectorized_elementwise_kernel<8, at::native::GeluCUDAKernelImpl>",
        None,
    ),
    (
        "elementwise",
        "void elementwise_kernel_with_index<int, arange_cuda_out>(int)",
        "aten::arange",
    ),
    (
        "elementwise",
        "void at::native::vectorized_elementwise_kernel<4, CUDAFunctor_add<float>>",
        None,
    ),
    (
        "copy_layout",
        "at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<int>>",
        None,
    ),
    ("copy_layout", "void at::native::CatArrayBatchedCopy_contig<OpaqueType<2u>, 3, 128>()", None),
    (
        "reduction",
        "void at::native::reduce_kernel<512, 1, ReduceOp<float, MeanOps<float>>>()",
        None,
    ),
    ("reduction", "void at::native::max_pool_backward_nchw<float, float>(long const*)", None),
    (
        "optimizer",
        "void multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float>>",
        None,
    ),
    ("embedding", "split_embedding_backward_codegen_rowwise_adagrad_weighted_kernel", None),
    ("sort_scan", "void cub::DeviceRadixSortOnesweepKernel<cub::DeviceRadixSortPolicy>()", None),
    ("sort_scan", "rocprim::detail::trampoline_kernel<rocprim::wrapped_scan_config>", None),
    ("sort_scan", "cub::DeviceScanKernel<int>", "fbgemm::asynchronous_complete_cumsum"),
    ("copy_layout", "void fbgemm_gpu::permute_2D_lengths_kernel<int>(int, int)", None),
    ("loss", "vectorized_elementwise_kernel<4, at::native::mse_kernel_cuda>", None),
    ("compiled", "triton_poi_fused_mul_silu_2", "triton_poi_fused_mul_silu_2"),
    ("compiled", "loop_add_fusion", None),
    ("compiled", "pe_exe", None),
    ("wait", "event_wait", None),
    ("other", "kernel_42", None),
    ("other", None, None),
]


@pytest.fixture(scope="module")
def con():
    return SmallTables().con


def test_each_rule_matches_its_example_first(con):
    """So no rule is hidden by an earlier one."""
    rules = con.sql("FROM category_rules ORDER BY position").fetchall()
    examples = [line.split(None, 3) for line in EXAMPLES.strip().splitlines()]
    assert [rule[1:4] for rule in rules] == [
        (applies_to, pattern, category) for applies_to, category, pattern, _ in examples
    ]
    wrong = []
    for (position, applies_to, pattern, category, _), (*_, name) in zip(
        rules, examples, strict=True
    ):
        [(first,)] = con.execute("SELECT rule_of_name($1, $2)", [name, applies_to]).fetchall()
        if first != {"position": position, "category": category}:
            wrong.append((pattern, name, first))
    assert wrong == []


def test_examples_of_the_view_match(con):
    unmatched = con.sql("""
        SELECT c.pattern, c.example
        FROM category_rules AS c
        WHERE rule_of_name(c.example, c.applies_to).position IS DISTINCT FROM c.position
    """)
    assert unmatched.fetchall() == []


def test_categories(con):
    found = {row[0] for row in con.sql("SELECT DISTINCT category FROM category_rules").fetchall()}
    assert found == CATEGORIES - {"communication", "memory", "other"}


@pytest.mark.parametrize(("category", "kernel", "operator"), KERNELS)
def test_kernels(con, category, kernel, operator):
    found = con.execute(
        "SELECT category_of_rules('computation', rule_of_name($1, 'kernel'), "
        "rule_of_name($2::VARCHAR, 'operator'))",
        [kernel, operator],
    ).fetchall()
    assert found == [(category,)]


def test_kinds_come_first(con):
    for kind in ("communication", "memory"):
        found = con.execute(
            "SELECT category_of_rules($1, rule_of_name('ampere_sgemm', 'kernel'), NULL)", [kind]
        ).fetchall()
        assert found == [(kind,)]


def test_one_name_alone(con):
    assert con.sql("""
        SELECT
            category_of_operator('aten::addmm'),
            category_of_operator('custom'),
            category_of_kernel('volta_sgemm_32x128_nn'),
            category_of_kernel(NULL)
    """).fetchall() == [("gemm", "other", "gemm", "other")]


def test_a_users_rules_come_first():
    con = SmallTables().con
    con.execute("""
        CREATE OR REPLACE VIEW user_category_rules AS
        FROM (VALUES
            ('Special_SGEMM', 'kernel', 'mine'),
            ('^aten::mm$', 'operator', 'my products'),
            ('fbgemm::', 'operator', 'sparse')
        ) AS t (pattern, applies_to, category)
    """)
    names = [
        ("my_special_sgemm_1", None, "mine"),
        ("ampere_sgemm", "aten::mm", "my products"),
        ("my_special_sgemm_1", "aten::mm", "mine"),
        ("ampere_sgemm", "aten::mm_", "gemm"),
        ("x", "fbgemm::permute_2D_sparse_data", "sparse"),
    ]
    for kernel, operator, category in names:
        found = con.execute(
            "SELECT category_of_rules('computation', rule_of_name($1, 'kernel'), "
            "rule_of_name($2::VARCHAR, 'operator'))",
            [kernel, operator],
        ).fetchall()
        assert found == [(category,)], (kernel, operator)
