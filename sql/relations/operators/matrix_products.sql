-- Matrix products: the operators and their costs.

-- One row per operator: the places of its arguments, counted from 1. NULL: no such argument.
--
--     most_arguments  the highest number of arguments that the operator has
--     rank_count      number of dimensions of each side; NULL: any
--     left_at         left side of the product
--     right_at        right side of the product
--     summand_at      tensor that is added to the product
--     transposed      whether the right side has the sizes (n, k), not (k, n)
CREATE OR REPLACE MACRO matrix_product_operators() AS TABLE
SELECT name, most_arguments, rank_count, left_at, right_at, summand_at, transposed
FROM (
    VALUES
        ('aten::mm', 3, 2, 1, 2, NULL, false),
        ('aten::addmm', 6, 2, 2, 3, 1, false),
        ('aten::addmm_', 5, 2, 2, 3, 1, false),
        ('aten::_addmm_activation', 7, 2, 2, 3, 1, false),
        ('aten::bmm', 3, 3, 1, 2, NULL, false),
        ('aten::baddbmm', 6, 3, 2, 3, 1, false),
        ('aten::baddbmm_', 5, 3, 2, 3, 1, false),
        ('aten::_int_mm', 3, 2, 1, 2, NULL, false),
        ('aten::_scaled_mm', 9, 2, 1, 2, 5, false),
        ('aten::linear', 3, NULL, 1, 2, 3, true)
) AS operators (
    name, most_arguments, rank_count, left_at, right_at, summand_at, transposed
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
-- Operations: 2 m n k per matrix of a batch. Adding a bias does not count.
--
--     mm, addmm, _scaled_mm, _int_mm   (m, k) x (k, n)
--     bmm, baddbmm                     (b, m, k) x (b, k, n)
--     linear                           (..., k) x (n, k), or (..., k) x (k)
--
-- For all of these operators, the number of operations is 2 n times the number of elements of the
-- left side.
--
-- Bytes: both sides, the summand and the result move once. The result's type is:
--
--   * _int_mm: int
--   * mm, bmm and _scaled_mm: the type in the dtype argument; without this argument, the left
--     side's type
--   * linear: the left side's type
--   * addmm, baddbmm and their variants: the summand's type
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
        s.name = 'aten::_scaled_mm' AND scalar_type(s.texts[4]) IS NOT NULL AS is_old_scaled,
        CASE WHEN is_old_scaled THEN 3 ELSE o.summand_at END AS added_at,
        s.dims[added_at] AS summand_dims,
        CASE WHEN added_at IS NULL THEN '' ELSE coalesce(s.types[added_at], '') END
            AS summand_type,
        -- NULL if the type is not known.
        CASE
            WHEN s.name = 'aten::_int_mm'
            THEN 'int'
            WHEN is_old_scaled
            THEN scalar_type(s.texts[4])
            WHEN s.name = 'aten::_scaled_mm' AND s.texts[7] = ''
            THEN left_type
            WHEN s.name = 'aten::_scaled_mm'
            THEN scalar_type(s.texts[7])
            WHEN s.name IN ('aten::mm', 'aten::bmm') AND s.texts[3] <> ''
            THEN scalar_type(s.texts[3])
            WHEN s.name IN ('aten::mm', 'aten::bmm', 'aten::linear')
            THEN left_type
            ELSE summand_type
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
        -- If an element holds two numbers, k is the packed dimension: left_dims has only half of k.
        -- The second 2 makes up for this.
        CASE WHEN left_type = 'c10::Float4_e2m1fn_x2' THEN [2, 2] ELSE [2] END,
        left_dims,
        [n]
    ) AS factors,
    [left_type, right_type] AS formats,
    [
        {'dims': left_dims, 'type': left_type},
        {'dims': right_dims, 'type': right_type},
        {'dims': summand_dims, 'type': summand_type},
        {'dims': list_append(left_dims[:-2], n), 'type': result_type}
    ] AS tensors
FROM fitting
WHERE fits;
