-- Matrix products with weights of few bits, packed into larger elements: GPTQ, AWQ, Marlin, Machete
-- and FP4 weights with activations of 16 bits.
--
-- reads: type_bytes

-- One row per operator: the places of its arguments, counted from 1. NULL: no such argument.
--
--     left_at     activations: (..., k), or (b, m, k)
--     weight_at   packed weights, of any sizes
--     scales_at   scales of the weights
--     zeros_at    their zero points, if the operator has them
--     n_at        argument of which one size is n
--     n_dim       which size, counted from 1, or from the last if below 0
--     n_from_end  place of the number n, counted from the last argument, which is 1
--
-- shared: session
CREATE OR REPLACE MACRO packed_product_operators() AS TABLE
SELECT
    unnest(names) AS name, left_at, weight_at, scales_at, zeros_at, n_at, n_dim, n_from_end
FROM (
    VALUES
        (['_C::marlin_gemm'], 1, 3, 5, 8, NULL, NULL, 6),
        (['_C::gptq_marlin_gemm'], 1, 3, 5, 7, NULL, NULL, 6),
        (['sgl_kernel::gptq_marlin_gemm'], 1, 3, 4, 6, NULL, NULL, 6),
        (['_C::fp8_marlin_gemm'], 1, 2, 3, NULL, NULL, NULL, 2),
        (['_C::gptq_gemm', 'sgl_kernel::gptq_gemm'], 1, 2, 4, 3, 2, 2, NULL),
        (['_C::awq_gemm'], 1, 2, 3, 4, 3, 2, NULL),
        (['_C::machete_mm'], 1, 2, 5, 6, 2, 2, NULL),
        (['_C::allspark_w8a16_gemm'], 1, 2, 3, 4, NULL, NULL, 7),
        (['_C::ggml_mul_mat_a8', '_C::ggml_mul_mat_vec_a8'], 2, 1, NULL, NULL, NULL, NULL, 1),
        (['vllm::gemm_with_dynamic_quant', 'aiter::gemm_a16wfp4', 'aiter::gemm_a16wfp4_'],
         1, 2, 3, NULL, 2, 1, NULL),
        (['aiter::batched_gemm_a16wfp4', 'aiter::batched_gemm_a16wfp4_'],
         1, 2, 3, NULL, 2, 2, NULL)
) AS operators (names, left_at, weight_at, scales_at, zeros_at, n_at, n_dim, n_from_end);

-- One row per shape of such a product, for operator_costs.
--
-- `shapes`: rows of numbered_shapes. A shape is an operator's name with the sizes (dims), types and
--   values (texts) of its arguments.
--
-- Operations: 2 m n k, so 2 n times the number of elements of the left side, which is not packed:
-- it has at least 16 bits per number. The products are of its type.
--
-- Bytes: left side, packed weights, scales, zero points and result move once. The result has the
-- left side's type.
--
-- Sources: csrc/torch_bindings.cpp of vLLM and csrc/common_extension.cc of sgl-kernel. Versions of
-- Marlin's operators differ in their number of arguments, but agree in the last ones.
CREATE OR REPLACE MACRO packed_products(shapes) AS TABLE
WITH
arguments AS (
    SELECT
        s.shape_number,
        s.dims[o.left_at] AS left_dims,
        s.types[o.left_at] AS left_type,
        s.dims[o.weight_at] AS weight_dims,
        s.types[o.weight_at] AS weight_type,
        s.dims[o.scales_at] AS scale_dims,
        coalesce(s.types[o.scales_at], '') AS scale_type,
        s.dims[o.zeros_at] AS zero_dims,
        coalesce(s.types[o.zeros_at], '') AS zero_type,
        -- NULL if the sizes do not fit. Then nothing is known.
        CASE
            WHEN len(left_dims) < 2 OR len(weight_dims) < 2 OR type_bytes(left_type) < 2 THEN NULL
            WHEN o.n_at IS NOT NULL THEN s.dims[o.n_at][o.n_dim]
            ELSE TRY_CAST(s.texts[len(s.texts) - o.n_from_end + 1] AS BIGINT)
        END AS n
    FROM query_table(shapes) AS s
    JOIN packed_product_operators() AS o ON o.name = s.name
)
SELECT
    shape_number,
    'matrix product' AS family,
    false AS is_estimated,
    list_concat([2], left_dims, [n]) AS factors,
    [left_type] AS formats,
    [
        {'dims': left_dims, 'type': left_type},
        {'dims': weight_dims, 'type': weight_type},
        {'dims': scale_dims, 'type': scale_type},
        {'dims': zero_dims, 'type': zero_type},
        {'dims': list_append(left_dims[:-2], n), 'type': left_type}
    ] AS tensors
FROM arguments;
