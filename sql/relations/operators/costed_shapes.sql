-- The shapes of operator calls, and the cost of a call with each shape.
--
-- A shape is an operator's name with the sizes, types and values of its arguments, and the context
-- of call_contexts or list_contexts, if the operator has one. There are few shapes, so the formulas
-- are computed per shape, not per call.
--
-- reads: argument_sizes, argument_texts, attentions, compiled_kernels, convolutions,
--   expert_products, grouped_products, matrix_products, memory_bound, moved_tensors,
--   normalizations, operator_costs, packed_products, served_attentions, tensor_lists, user_costs,
--   user_operators

-- One row per shape: its number, and its arguments as text and as lists.
--
-- `called`: rows of costed_calls.
CREATE OR REPLACE MACRO numbered_shapes(called) AS TABLE
WITH
distinct_shapes AS (
    SELECT DISTINCT name, input_dims, input_types, concrete_inputs, context
    FROM query_table(called)
)
SELECT
    row_number() OVER () AS shape_number,
    name,
    input_dims,
    input_types,
    concrete_inputs,
    context,
    argument_sizes(input_dims) AS dims,
    argument_texts(input_types) AS types,
    argument_texts(concrete_inputs) AS texts
FROM distinct_shapes;

-- One row per shape with a formula for its operations.
--
-- `shapes`: rows of numbered_shapes.
CREATE OR REPLACE MACRO flop_formulas(shapes) AS TABLE
FROM matrix_products(shapes)
UNION ALL
FROM convolutions(shapes)
UNION ALL
FROM attentions(shapes)
UNION ALL
FROM served_attentions(shapes)
UNION ALL
FROM grouped_products(shapes)
UNION ALL
FROM packed_products(shapes)
UNION ALL
FROM expert_products(shapes);

-- The formulas of the user, and those of the other files for the operators that the user does not
-- name.
--
-- `shapes`: rows of numbered_shapes.
-- `ours`: formulas of the other files.
CREATE OR REPLACE MACRO formulas_to_use(shapes, ours) AS TABLE
SELECT shape_number, family, is_estimated, factors, formats, tensors
FROM user_costs(shapes)
UNION ALL
SELECT f.shape_number, f.family, f.is_estimated, f.factors, f.formats, f.tensors
FROM query_table(ours) AS f
WHERE f.shape_number NOT IN (
    SELECT s.shape_number
    FROM query_table(shapes) AS s
    SEMI JOIN user_operators() AS u ON u.name = s.name
);

-- One row per shape whose cost is known: its name and arguments as text, and the columns of
-- operator_costs.
--
-- `shapes`: rows of numbered_shapes.
-- `formulas`: rows for operator_costs.
CREATE OR REPLACE MACRO shapes_with_costs(shapes, formulas) AS TABLE
SELECT s.name, s.input_dims, s.input_types, s.concrete_inputs, s.context, c.*
FROM operator_costs(formulas) AS c
JOIN query_table(shapes) AS s ON s.shape_number = c.shape_number;

-- One row per shape whose operations are known, with the columns of shapes_with_costs.
--
-- `called`: rows of costed_calls.
CREATE OR REPLACE MACRO computing_shapes(called) AS TABLE
WITH
shapes AS MATERIALIZED (
    FROM numbered_shapes(called)
),
known_formulas AS (
    FROM flop_formulas(shapes)
),
formulas AS (
    FROM formulas_to_use(shapes, known_formulas)
)
FROM shapes_with_costs(shapes, formulas)
WHERE flops IS NOT NULL;

-- One row per shape whose operations or bytes are known, with the columns of shapes_with_costs.
--
-- `called`: rows of costed_calls.
--
-- shared: session, called: all_costed_calls by name, input_dims, input_types, concrete_inputs,
--   context
CREATE OR REPLACE MACRO costed_shapes(called) AS TABLE
WITH
shapes AS MATERIALIZED (
    FROM numbered_shapes(called)
),
known_formulas AS (
    FROM flop_formulas(shapes)
    UNION ALL
    FROM memory_bound(shapes)
    UNION ALL
    FROM normalizations(shapes)
    UNION ALL
    FROM moved_tensors(shapes)
    UNION ALL
    FROM tensor_lists(shapes)
    UNION ALL
    FROM compiled_kernels(shapes)
),
formulas AS (
    FROM formulas_to_use(shapes, known_formulas)
)
FROM shapes_with_costs(shapes, formulas);
