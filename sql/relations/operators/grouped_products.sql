-- Grouped matrix products, as mixtures of experts use them: a product per expert, in one call.
--
-- reads: type_bytes

-- One row per operator: the places of its arguments, counted from 1. transposed: whether the right
-- side can have the sizes (e, n, k), not (e, k, n). result_at: result, if the caller allocates it.
-- is_packed: whether an element holds two numbers of 4 bits, along k.
--
-- shared: session
CREATE OR REPLACE MACRO grouped_product_operators() AS TABLE
SELECT unnest(names) AS name, left_at, right_at, result_at, transposed, is_packed
FROM (
    VALUES
        (['aten::_grouped_mm', 'aten::_scaled_grouped_mm'], 1, 2, NULL, false, false),
        (['primus_turbo::grouped_gemm', 'primus_turbo::grouped_gemm_impl',
          'primus_turbo_cpp_extension::grouped_gemm',
          'primus_turbo_cpp_extension::ck_grouped_gemm',
          'primus_turbo_cpp_extension::ck_grouped_gemm_fp8',
          'primus_turbo_cpp_extension::hipblaslt_grouped_gemm',
          'primus_turbo_cpp_extension::hipblaslt_grouped_gemm_fp8'],
         1, 2, NULL, true, false),
        (['primus_turbo::grouped_gemm_variable_k', 'primus_turbo::grouped_gemm_variable_k_impl',
          'primus_turbo_cpp_extension::grouped_gemm_variable_k',
          'primus_turbo_cpp_extension::ck_grouped_gemm_variable_k',
          'primus_turbo_cpp_extension::ck_grouped_gemm_fp8_variable_k'],
         1, 2, NULL, false, false),
        (['_C::cutlass_moe_mm', 'sgl_kernel::cutlass_moe_mm'], 2, 3, 1, true, false),
        (['_C::cutlass_mxfp8_grouped_mm'], 1, 2, 5, true, false),
        (['sgl_kernel::fp8_blockwise_scaled_grouped_mm'], 7, 8, 1, true, false),
        (['_C::cutlass_fp4_group_mm', 'sgl_kernel::cutlass_fp4_group_mm'], 2, 3, 1, true, true)
) AS operators (names, left_at, right_at, result_at, transposed, is_packed);

-- One row per shape of a grouped product, for operator_costs:
--
--     (t, k) x (e, k, n)   each of the t rows meets one of the e matrices: 2 t k n operations
--     (m, t) x (t, n)      each of the t columns and rows is of one group: 2 m t n operations, and
--                          the result has e matrices. e is the number of offsets
--     (t, m) x (t, n)      the same with the left side transposed (operators of Primus-Turbo)
--
-- `shapes`: rows of numbered_shapes.
--
-- Bytes: both sides and the result move once, so all e matrices do. The result counts as bfloat16
-- if the operands have less than 2 bytes per element.
--
-- Sources: torch/_meta_registrations.py, _meta_grouped_mm_common; schemas that Primus-Turbo
-- registers
CREATE OR REPLACE MACRO grouped_products(shapes) AS TABLE
WITH
sides AS (
    SELECT
        s.shape_number,
        s.name,
        s.dims[o.left_at] AS left_dims,
        s.types[o.left_at] AS left_type,
        s.dims[o.right_at] AS right_dims,
        s.types[o.right_at] AS right_type,
        -- The offsets or lengths of the groups come after two scales, if there are scales.
        s.dims[CASE
            WHEN s.name = 'aten::_scaled_grouped_mm' OR contains(s.name, '_gemm_fp8') THEN 5
            ELSE 3
        END] AS offset_dims,
        NOT prefix(s.name, 'aten::') AND left_dims[1] = right_dims[1] AS sums_rows,
        o.is_packed,
        CASE
            WHEN left_dims[2] = right_dims[2] THEN right_dims[3]
            WHEN o.transposed AND left_dims[2] = right_dims[3] THEN right_dims[2]
        END AS n,
        CASE
            WHEN o.result_at IS NOT NULL THEN s.types[o.result_at]
            WHEN type_bytes(left_type) < 2 THEN 'c10::BFloat16'
            ELSE left_type
        END AS result_type
    FROM query_table(shapes) AS s
    JOIN grouped_product_operators() AS o ON o.name = s.name
)
SELECT
    shape_number,
    'matrix product' AS family,
    false AS is_estimated,
    [
        CASE WHEN is_packed THEN 4 ELSE 2 END,
        left_dims[1],
        left_dims[2],
        CASE len(right_dims) WHEN 3 THEN n ELSE right_dims[2] END
    ] AS factors,
    CASE WHEN is_packed THEN ['c10::Float4_e2m1fn_x2'] ELSE [left_type, right_type] END
        AS formats,
    [
        {'dims': left_dims, 'type': left_type},
        {'dims': right_dims, 'type': right_type},
        {
            'dims': CASE len(right_dims)
                WHEN 3 THEN [left_dims[1], n]
                ELSE [
                    offset_dims[1],
                    CASE WHEN sums_rows THEN left_dims[2] ELSE left_dims[1] END,
                    right_dims[2]
                ]
            END,
            'type': result_type
        }
    ] AS tensors
FROM sides
WHERE len(left_dims) = 2
  AND (
      len(right_dims) = 3 AND n IS NOT NULL
      OR len(right_dims) = 2 AND prefix(name, 'aten::') AND left_dims[2] = right_dims[1]
      OR len(right_dims) = 2 AND sums_rows
  );
