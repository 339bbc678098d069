-- Matrix products: the operators and their costs.
--
-- reads: type_bytes

-- One row per operator: the places of its arguments, counted from 1. NULL: no such argument.
--
--     most_arguments  the highest number of arguments that the operator has; NULL: any
--     rank_count      number of dimensions of each side; NULL: any of the left side
--     left_at         left side of the product
--     right_at        right side of the product
--     summand_at      tensor that is added to the product
--     transposed      whether the right side has the sizes (n, k), not (k, n)
--     dtype_at        number of the result's type
--     result_at       result, if the caller allocates it
--     is_packed       whether an element holds two numbers of 4 bits, whatever its type
CREATE OR REPLACE MACRO matrix_product_operators() AS TABLE
SELECT
    unnest(names) AS name,
    most_arguments,
    rank_count,
    left_at,
    right_at,
    summand_at,
    transposed,
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
        (['aiter::gemm_a8w8', 'aiter::gemm_a8w8_CK', 'aiter::gemm_a8w8_bpreshuffle',
          'vllm::rocm_aiter_gemm_a8w8', 'vllm::rocm_aiter_gemm_w8a8'],
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
);

-- The name of the type that has this number in a `dtype` argument. NULL if a matrix product cannot
-- have the type.
CREATE OR REPLACE MACRO scalar_type(number) AS
CASE number
    WHEN '3' THEN 'int'
    WHEN '5' THEN 'c10::Half'
    WHEN '6' THEN 'float'
    WHEN '7' THEN 'double'
    WHEN '15' THEN 'c10::BFloat16'
    WHEN '23' THEN 'c10::Float8_e5m2'
    WHEN '24' THEN 'c10::Float8_e4m3fn'
    WHEN '25' THEN 'c10::Float8_e5m2fnuz'
    WHEN '26' THEN 'c10::Float8_e4m3fnuz'
END;

-- One row per shape of a matrix product, if its two sides fit together: the factors whose product
-- is the number of operations, and the tensors that move.
--
-- `shapes`: rows of numbered_shapes. A shape is an operator's name with the sizes (dims), types and
--   values (texts) of its arguments.
--
-- Operations: 2 m n k per matrix of a batch. Adding a bias does not count, nor does scaling.
--
--     mm, addmm, _scaled_mm, _int_mm   (m, k) x (k, n)
--     bmm, baddbmm                     (b, m, k) x (b, k, n)
--     linear                           (..., k) x (n, k), or (..., k) x (k)
--
-- For all of these operators, the number of operations is 2 n times the number of elements of the
-- left side. An element of 8 bits can hold two numbers of 4 bits, along k. Then it is 4 n times.
--
-- Bytes: both sides, the summand and the result move once; scales are left out. The result's type:
--
--   * _int_mm, int8_linear_matmul: int
--   * an operator with a dtype argument: this type; without this argument, the left side's type
--   * addmm, baddbmm, and operators whose caller allocates the result: the type of that argument
--   * others: the left side's type
--
-- The result of numbers of 8 or 4 bits has another type. If no argument shows it, the bytes are not
-- known.
--
-- A call with more arguments than most_arguments has no row. TorchScript records such calls: it
-- adds the arguments of the calls around a call, so the list of arguments is not reliable.
--
-- Sources:
--
--   * mm_flop, addmm_flop, bmm_flop and baddbmm_flop of torch/utils/flop_counter.py
--   * signatures of aten/src/ATen/native/native_functions.yaml. Until PyTorch 2.4, the third
--     argument of _scaled_mm was the bias, and the fourth was the result's dtype (is_old_scaled).
--     Since then, these two arguments are the scales.
--   * signatures of the operators that vLLM, SGLang, aiter and Transformer Engine register
CREATE OR REPLACE MACRO matrix_products(shapes) AS TABLE
WITH
sides AS MATERIALIZED (
    SELECT
        s.shape_number,
        s.name,
        s.dims[o.left_at] AS left_dims,
        s.dims[o.right_at] AS right_dims,
        s.types[o.left_at] AS left_type,
        s.types[o.right_at] AS right_type,
        len(s.dims) AS argument_count,
        o.most_arguments,
        o.rank_count,
        o.transposed,
        o.is_packed OR coalesce(left_type = 'c10::Float4_e2m1fn_x2', false) AS is_packed,
        s.name = 'aten::_scaled_mm' AND scalar_type(s.texts[4]) IS NOT NULL AS is_old_scaled,
        CASE WHEN is_old_scaled THEN 3 ELSE o.summand_at END AS added_at,
        s.dims[added_at] AS summand_dims,
        CASE WHEN added_at IS NULL THEN '' ELSE coalesce(s.types[added_at], '') END
            AS summand_type,
        -- NULL if the type is not known.
        CASE
            WHEN s.name IN ('aten::_int_mm', 'bitsandbytes::int8_linear_matmul')
            THEN 'int'
            WHEN is_old_scaled
            THEN scalar_type(s.texts[4])
            WHEN s.texts[o.dtype_at] <> ''
            THEN scalar_type(s.texts[o.dtype_at])
            WHEN o.result_at IS NOT NULL
            THEN coalesce(s.types[o.result_at], CASE WHEN prefix(s.name, 'aten::') THEN '' END)
            WHEN s.name = 'aten::_scaled_mm' AND s.texts[7] IS NULL
            THEN NULL
            WHEN prefix(s.name, 'aten::') OR type_bytes(left_type) > 1
            THEN left_type
        END AS result_type
    FROM query_table(shapes) AS s
    JOIN matrix_product_operators() AS o ON o.name = s.name
),
fitting AS (
    SELECT
        *,
        CASE
            WHEN NOT transposed THEN right_dims[-1]
            WHEN len(right_dims) = 2 THEN right_dims[1]
            ELSE 1
        END AS n,
        CASE
            WHEN argument_count > most_arguments
            THEN false
            WHEN is_packed AND NOT coalesce(type_bytes(left_type) = 1, false)
            THEN false
            WHEN transposed
            THEN len(right_dims) BETWEEN 1 AND 2 AND len(left_dims) > 0
                AND left_dims[-1] = right_dims[-1]
            ELSE len(left_dims) = rank_count AND len(right_dims) = rank_count
                AND left_dims[-1] = right_dims[-2]
                AND (rank_count = 2 OR left_dims[1] = right_dims[1])
        END AS fits
    FROM sides
)
SELECT
    shape_number,
    'matrix product' AS family,
    false AS is_estimated,
    list_concat(
        -- If an element holds two numbers, left_dims has only half of k. The second 2 makes up for
        -- this.
        CASE WHEN is_packed THEN [2, 2] ELSE [2] END,
        left_dims,
        [n]
    ) AS factors,
    CASE WHEN is_packed THEN ['c10::Float4_e2m1fn_x2'] ELSE [left_type, right_type] END
        AS formats,
    [
        {'dims': left_dims, 'type': left_type},
        {'dims': right_dims, 'type': right_type},
        {'dims': summand_dims, 'type': summand_type},
        {'dims': list_append(left_dims[:-2], n), 'type': result_type}
    ] AS tensors
FROM fitting
WHERE fits;
