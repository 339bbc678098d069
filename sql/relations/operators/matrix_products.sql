-- Matrix products and their costs.
--
-- reads: matrix_product_operators, type_bytes

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
--     te_gemm_ts, hipblaslt_gemm       (m, k) or (k, m), and (k, n) or (n, k): arguments say which
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
--   * signatures of the operators that vLLM, SGLang, aiter, Primus-Turbo and Transformer Engine
--     register; the caller fp8_gemm for the sides of te_gemm_ts
CREATE OR REPLACE MACRO matrix_products(shapes) AS TABLE
WITH
sides AS MATERIALIZED (
    SELECT
        s.shape_number,
        s.name,
        CASE
            WHEN TRY_CAST(s.texts[o.flags_at[1]] AS BOOLEAN) THEN list_reverse(s.dims[o.left_at])
            ELSE s.dims[o.left_at]
        END AS left_dims,
        s.dims[o.right_at] AS right_dims,
        s.types[o.left_at] AS left_type,
        s.types[o.right_at] AS right_type,
        len(s.dims) AS argument_count,
        o.most_arguments,
        o.rank_count,
        CASE
            WHEN o.flags_at IS NULL THEN o.transposed
            ELSE TRY_CAST(s.texts[o.flags_at[2]] AS BOOLEAN)
        END AS transposed,
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
    CASE
        WHEN is_packed
        THEN ['c10::Float4_e2m1fn_x2']
        -- Transformer Engine holds numbers of 8 bits as bytes.
        WHEN name = 'tex_ts::te_gemm_ts' AND left_type = 'unsigned char'
        THEN list_transform(
            [left_type, right_type],
            lambda type: CASE WHEN type = left_type THEN 'c10::Float8_e4m3fn' ELSE type END
        )
        ELSE [left_type, right_type]
    END AS formats,
    [
        {'dims': left_dims, 'type': left_type},
        {'dims': right_dims, 'type': right_type},
        {'dims': summand_dims, 'type': summand_type},
        {'dims': list_append(left_dims[:-2], n), 'type': result_type}
    ] AS tensors
FROM fitting
WHERE fits;
