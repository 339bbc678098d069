-- One row per shape of an operator whose operations or bytes are known.
--
-- `only_jobs`: jobs to look at (NULL: all).
--
-- Returns the columns of costed_shapes, and
--
--     shape_hash      shape_hash of the operator's name and arguments
--     argument_dims   sizes of the arguments, as lists
--     argument_types  their types
--     element_count   elements of the largest argument of a pointwise operator: an elementwise
--                     operator other than copies and fills. NULL for other operators
--     result_bytes    bytes of the result of a pointwise operator, at most half of all its bytes
--
-- reads: costed_names, flop_formulas, host_calls, is_operator, memory_bound, numbered_shapes,
--   shape_hash, shapes_with_costs, type_bytes, whole_product
CREATE OR REPLACE MACRO shared_op_shapes(only_jobs) AS TABLE
WITH
called AS (
    SELECT DISTINCT
        h.name, h.input_dims, h.input_types, h.concrete_inputs, NULL::VARCHAR AS context
    FROM host_calls AS h
    SEMI JOIN costed_names(true) AS k ON k.name = h.name
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, h.job))
      AND is_operator(h.cat)
      AND h.input_dims IS NOT NULL
),
shapes AS MATERIALIZED (
    FROM numbered_shapes(called)
),
formulas AS (
    FROM flop_formulas(shapes)
    UNION ALL
    FROM memory_bound(shapes)
),
sized AS (
    SELECT
        c.*,
        s.dims AS argument_dims,
        s.types AS argument_types,
        c.family = 'elementwise' AND NOT regexp_matches(c.name, '::(copy|fill|zero)_$')
            AS is_pointwise,
        list_max(list_transform(s.dims, lambda d: whole_product(d))) AS largest_count
    FROM shapes_with_costs(shapes, formulas) AS c
    JOIN shapes AS s ON s.shape_number = c.shape_number
)
SELECT
    * EXCLUDE (is_pointwise, largest_count),
    shape_hash(name, input_dims, input_types, concrete_inputs) AS shape_hash,
    CASE WHEN is_pointwise THEN largest_count END AS element_count,
    CASE
        WHEN is_pointwise
        THEN least(bytes // 2, largest_count * type_bytes(argument_types[1]))
    END AS result_bytes
FROM sized;
