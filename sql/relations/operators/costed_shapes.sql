-- The shapes of operator calls, and the cost of a call with each shape.
--
-- A shape is an operator's name with the sizes, types and values of its arguments, and the context
-- of call_contexts or list_contexts, if the operator has one. There are few shapes, so the formulas
-- are computed per shape, not per call.
--
-- reads: argument_sizes, argument_texts, attentions, compiled_kernels, convolutions,
--   expert_products, grouped_products, matrix_products, memory_bound, moved_tensors,
--   normalizations, operator_costs, packed_products, served_attentions, tensor_lists

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
formulas AS (
    FROM flop_formulas(shapes)
)
FROM shapes_with_costs(shapes, formulas)
WHERE flops IS NOT NULL;

-- One row per shape whose operations or bytes are known, with the columns of shapes_with_costs.
--
-- `called`: rows of costed_calls.
CREATE OR REPLACE MACRO costed_shapes(called) AS TABLE
WITH
shapes AS MATERIALIZED (
    FROM numbered_shapes(called)
),
formulas AS (
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
)
FROM shapes_with_costs(shapes, formulas);
