-- Operators of matrix products.

-- One row per operator: the places of its arguments, counted from 1. NULL: no such argument.
--
--     most_arguments  the highest number of arguments that the operator has; NULL: any
--     rank_count      number of dimensions of each side; NULL: any of the left side
--     left_at         left side of the product
--     right_at        right side of the product
--     summand_at      tensor that is added to the product
--     transposed      whether the right side has the sizes (n, k), not (k, n)
--     flags_at        arguments that say whether the left and the right side are transposed
--     dtype_at        number of the result's type
--     result_at       result, if the caller allocates it
--     is_packed       whether an element holds two numbers of 4 bits, whatever its type
--
-- shared: session
CREATE OR REPLACE MACRO matrix_product_operators() AS TABLE
SELECT
    unnest(names) AS name,
    most_arguments,
    rank_count,
    left_at,
    right_at,
    summand_at,
    transposed,
    NULL::INTEGER[] AS flags_at,
    dtype_at,
    result_at,
    is_packed
FROM (
    VALUES
        (['aten::mm'], 3, 2, 1, 2, NULL, false, 3, NULL, false),
        (['aten::addmm'], 6, 2, 2, 3, 1, false, NULL, 1, false),
        (['aten::addmm_'], 5, 2, 2, 3, 1, false, NULL, 1, false),
        (['aten::_addmm_activation'], 7, 2, 2, 3, 1, false, NULL, 1, false),
        (['aten::bmm'], 3, 3, 1, 2, NULL, false, 3, NULL, false),
        (['aten::baddbmm'], 6, 3, 2, 3, 1, false, NULL, 1, false),
        (['aten::baddbmm_'], 5, 3, 2, 3, 1, false, NULL, 1, false),
        (['aten::_int_mm'], 3, 2, 1, 2, NULL, false, NULL, NULL, false),
        (['aten::_scaled_mm'], 9, 2, 1, 2, 5, false, 7, NULL, false),
        (['aten::linear'], 3, NULL, 1, 2, 3, true, NULL, NULL, false),
        -- vLLM, SGLang, aiter and others
        (['vllm::rocm_unquantized_gemm', 'vllm::rocm_unquantized_gemm_impl'],
         NULL, NULL, 1, 2, 3, true, NULL, NULL, false),
        (['aiter::gemm_a16w16'], NULL, NULL, 1, 2, 3, true, 4, NULL, false),
        (['aiter::gemm_a16w16_atomic', 'aiter::gemm_a16w16_atomic_'],
         NULL, NULL, 1, 2, NULL, true, 3, NULL, false),
        (['aiter::_gemm_a16w16_asm'], NULL, NULL, 1, 2, NULL, true, NULL, 3, false),
        (['_rocm_C::wvSplitK', '_rocm_C::wvSplitKrc'],
         NULL, NULL, 2, 1, 3, true, NULL, NULL, false),
        (['_rocm_C::LLMM1'], NULL, NULL, 2, 1, NULL, true, NULL, NULL, false),
        -- A newer version has a bias before the result. The bias is left out.
        (['_rocm_C::wvSplitKQ'], NULL, NULL, 2, 1, NULL, true, NULL, -4, false),
        (['aiter::gemm_a8w8', 'aiter::gemm_a8w8_CK', 'aiter::gemm_a8w8_bpreshuffle',
          'vllm::rocm_aiter_gemm_a8w8', 'vllm::rocm_aiter_gemm_w8a8', 'vllm::rocm_aiter_w8a8_gemm',
          'vllm::_rocm_aiter_preshuffled_per_token_w8a8_gemm'],
         NULL, NULL, 1, 2, 5, true, 6, NULL, false),
        (['aiter::gemm_a8w8_blockscale', 'aiter::gemm_a8w8_blockscale_bpreshuffle',
          'vllm::rocm_aiter_gemm_a8w8_blockscale',
          'vllm::rocm_aiter_gemm_w8a8_blockscale',
          'vllm::rocm_aiter_triton_gemm_a8w8_blockscale',
          'sglang_profiler::fp8_utils_gemm_a8w8_blockscale',
          'sglang_profiler::gemm_a8w8_blockscale_gemm_a8w8_blockscale'],
         NULL, NULL, 1, 2, NULL, true, 5, NULL, false),
        (['vllm::w8a8_triton_block_scaled_mm_func', 'vllm::w8a8_block_fp8_matmul_func'],
         NULL, NULL, 1, 2, NULL, true, 6, NULL, false),
        (['aiter::gemm_a8w8_ck'], NULL, NULL, 1, 2, 6, true, NULL, 5, false),
        (['aiter::gemm_a8w8_bpreshuffle_ck', 'aiter::gemm_a8w8_asm',
          'aiter::gemm_a8w8_blockscale_ck', 'aiter::gemm_a8w8_blockscale_cktile',
          'aiter::gemm_a8w8_blockscale_bpreshuffle_ck',
          'aiter::gemm_a8w8_blockscale_bpreshuffle_cktile',
          'aiter::flatmm_a8w8_blockscale_asm', 'aiter::gfx950_a8w8_blockscale_asm'],
         NULL, NULL, 1, 2, NULL, true, NULL, 5, false),
        (['aiter::_gemm_a8w8_blockscale_bpreshuffle_asm'],
         NULL, NULL, 1, 2, 6, true, NULL, 3, false),
        (['aiter::gemm_a4w4'], NULL, NULL, 1, 2, 5, true, 6, NULL, true),
        (['aiter::gemm_afp4wfp4', 'aiter::gemm_afp4wfp4_'],
         NULL, NULL, 1, 2, NULL, true, 5, NULL, true),
        (['aiter::_gemm_a4w4_asm', 'aiter::gemm_a4w4_asm', 'aiter::gemm_a4w4_blockscale'],
         NULL, NULL, 1, 2, NULL, true, NULL, 5, true),
        (['_C::cutlass_scaled_fp4_mm', 'sgl_kernel::cutlass_scaled_fp4_mm'],
         NULL, NULL, 2, 3, NULL, true, NULL, 1, true),
        (['_C::cutlass_scaled_mm'], NULL, 2, 2, 3, 6, false, NULL, 1, false),
        (['_C::cutlass_scaled_mm_azp'], NULL, 2, 2, 3, 8, false, NULL, 1, false),
        (['sgl_kernel::fp8_scaled_mm', 'sgl_kernel::int8_scaled_mm'],
         NULL, 2, 1, 2, 6, false, 5, NULL, false),
        (['sgl_kernel::fp8_blockwise_scaled_mm'], NULL, 2, 1, 2, NULL, false, 5, NULL, false),
        (['vllm::flashinfer_mm_fp4', 'sglang::flashinfer_mm_fp4'],
         NULL, 2, 1, 2, NULL, false, 6, NULL, true),
        (['vllm::bmm_fp8'], NULL, 3, 1, 2, NULL, false, 5, NULL, false),
        (['sgl_kernel::bmm_fp8'], NULL, 3, 1, 2, NULL, false, NULL, 3, false),
        (['sgl_kernel::dsv3_fused_a_gemm', '_C::dsv3_fused_a_gemm'],
         NULL, 2, 2, 3, NULL, false, NULL, 1, false),
        (['sgl_kernel::dsv3_router_gemm'], NULL, NULL, 2, 3, NULL, true, NULL, 1, false),
        (['trtllm::cublas_scaled_mm'], NULL, 2, 1, 2, 5, false, 6, NULL, false),
        (['bitsandbytes::int8_linear_matmul'], 2, NULL, 1, 2, NULL, true, NULL, NULL, false),
        -- Transformer Engine
        (['_Linear'], NULL, NULL, 2, 1, 3, true, NULL, NULL, false),
        (['_LayerNormLinear'], NULL, NULL, 1, 4, 5, true, NULL, NULL, false)
) AS operators (
    names, most_arguments, rank_count, left_at, right_at, summand_at, transposed, dtype_at,
    result_at, is_packed
)
UNION ALL
SELECT
    unnest(names) AS name,
    NULL AS most_arguments,
    2 AS rank_count,
    left_at,
    right_at,
    summand_at,
    false AS transposed,
    flags_at,
    dtype_at,
    result_at,
    is_packed
FROM (
    VALUES
        -- Transformer Engine. The sides are those of a product of columns: B A, not A B.
        (['tex_ts::te_gemm_ts'], 6, 1, 15, [10, 5], NULL, 11, false),
        -- Primus-Turbo
        (['primus_turbo_cpp_extension::hipblaslt_gemm'], 1, 2, NULL, [4, 5], 3, NULL, false),
        (['primus_turbo_cpp_extension::hipblaslt_gemm_fp8',
          'primus_turbo_cpp_extension::turbo_gemm_fp8'],
         1, 3, NULL, [6, 7], 5, NULL, false),
        (['primus_turbo_cpp_extension::hipblaslt_gemm_fp4'], 1, 3, NULL, [6, 7], 5, NULL, true),
        (['primus_turbo_cpp_extension::ck_gemm_fp8'], 1, 2, NULL, [5, 6], 7, NULL, false),
        (['primus_turbo::gemm_impl'], 1, 3, 8, [2, 4], 5, NULL, false),
        (['primus_turbo::gemm_fp8_impl'], 1, 4, NULL, [3, 6], 7, NULL, false)
) AS operators (
    names, left_at, right_at, summand_at, flags_at, dtype_at, result_at, is_packed
);
