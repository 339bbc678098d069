-- The different shapes of operators with known formulas, and the cost of a call on them.
--
-- There is one row per shape, with a number. Shapes are few, so formulas are computed per shape and
-- not per call. `called` are rows of costed_calls.
--
-- reads: argument_sizes, argument_texts, attentions, convolutions, matrix_products, memory_bound,
--   operator_costs

-- The shapes, as text and as lists.
CREATE OR REPLACE MACRO numbered_shapes(called) AS TABLE
WITH
distinct_shapes AS (
    SELECT DISTINCT name, input_dims, input_types, concrete_inputs
    FROM query_table(called)
)
SELECT
    row_number() OVER () AS shape_number,
    name,
    input_dims,
    input_types,
    concrete_inputs,
    argument_sizes(input_dims) AS dims,
    argument_texts(input_types) AS types,
    argument_texts(concrete_inputs) AS texts
FROM distinct_shapes;

CREATE OR REPLACE MACRO flop_formulas(shapes) AS TABLE
FROM matrix_products(shapes)
UNION ALL
FROM convolutions(shapes)
UNION ALL
FROM attentions(shapes);

CREATE OR REPLACE MACRO shapes_with_costs(shapes, formulas) AS TABLE
SELECT s.name, s.input_dims, s.input_types, s.concrete_inputs, c.*
FROM operator_costs(formulas) AS c
JOIN query_table(shapes) AS s ON s.shape_number = c.shape_number;

-- The shapes whose operations are known: shape_number, name, input_dims, input_types,
-- concrete_inputs and the columns of operator_costs.
CREATE OR REPLACE MACRO computing_shapes(called) AS TABLE
WITH
shapes AS MATERIALIZED (
    FROM numbered_shapes(called)
),
formulas AS (
    FROM flop_formulas(shapes)
)
FROM shapes_with_costs(shapes, formulas);

-- The same, with the shapes for which only bytes are known.
CREATE OR REPLACE MACRO costed_shapes(called) AS TABLE
WITH
shapes AS MATERIALIZED (
    FROM numbered_shapes(called)
),
formulas AS (
    FROM flop_formulas(shapes)
    UNION ALL
    FROM memory_bound(shapes)
)
FROM shapes_with_costs(shapes, formulas);
