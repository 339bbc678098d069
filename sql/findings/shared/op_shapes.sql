--
-- reads: argument_sizes, argument_texts, costed_names, costed_shapes, host_ops, is_operator,
--   shape_hash, type_bytes, whole_product
CREATE OR REPLACE MACRO shared_op_shapes(only_jobs) AS TABLE
WITH
called AS MATERIALIZED (
    SELECT DISTINCT h.name, h.input_dims, h.input_types, h.concrete_inputs
    FROM host_ops AS h
    SEMI JOIN costed_names(true) AS known ON known.name = h.name
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, h.job))
      AND is_operator(h.cat)
      AND h.input_dims IS NOT NULL
),
sized AS (
    SELECT
        *,
        argument_sizes(input_dims) AS argument_dims,
        argument_texts(input_types) AS argument_types,
        family = 'elementwise' AND NOT regexp_matches(name, '::(copy|fill|zero)_$') AS is_pointwise,
        list_max(list_transform(argument_dims, lambda d: whole_product(d))) AS largest_count
    FROM costed_shapes(called)
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
