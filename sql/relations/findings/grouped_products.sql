-- Grouped matrix products, as mixtures of experts use them: a product per expert, in one call.
--
-- reads: type_bytes

-- One row per operator.
CREATE OR REPLACE MACRO grouped_product_operators() AS TABLE
SELECT name
FROM (VALUES ('aten::_grouped_mm'), ('aten::_scaled_grouped_mm')) AS operators (name);

-- One row per shape of a grouped product of the rows of one matrix with a batch of matrices, for
-- operator_costs: (t, k) x (e, k, n). Each of the t rows meets one of the e matrices.
--
-- `shapes`: rows of numbered_shapes.
--
-- Operations: 2 t k n. Bytes: both sides and the result move once, so all e matrices do. The result
-- counts as bfloat16 if the operands have less than 2 bytes per element.
--
-- Source: torch/_meta_registrations.py, _meta_grouped_mm_common
CREATE OR REPLACE MACRO grouped_products(shapes) AS TABLE
SELECT
    s.shape_number,
    'matrix product' AS family,
    false AS is_estimated,
    [2, s.dims[1][1], s.dims[1][2], s.dims[2][3]] AS factors,
    [s.types[1], s.types[2]] AS formats,
    [
        {'dims': s.dims[1], 'type': s.types[1]},
        {'dims': s.dims[2], 'type': s.types[2]},
        {
            'dims': [s.dims[1][1], s.dims[2][3]],
            'type': CASE WHEN type_bytes(s.types[1]) < 2 THEN 'c10::BFloat16' ELSE s.types[1] END
        }
    ] AS tensors
FROM query_table(shapes) AS s
JOIN grouped_product_operators() AS o ON o.name = s.name
WHERE len(s.dims[1]) = 2
  AND len(s.dims[2]) = 3
  AND s.dims[1][2] = s.dims[2][2];
