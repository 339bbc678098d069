-- Cost models of the user, from the file that --models names. They replace the formulas of the
-- other files for the operators that they name. Without such a file: no rows.

-- The names of the operators.
CREATE OR REPLACE MACRO user_operators() AS TABLE
SELECT NULL::VARCHAR AS name
WHERE false;

-- One row per shape of such an operator, with the columns that operator_costs needs.
--
-- `shapes`: rows of numbered_shapes.
CREATE OR REPLACE MACRO user_costs(shapes) AS TABLE
SELECT
    s.shape_number,
    NULL::VARCHAR AS family,
    NULL::BOOLEAN AS is_estimated,
    NULL::BIGINT[] AS factors,
    NULL::VARCHAR[] AS formats,
    NULL::STRUCT(dims BIGINT[], "type" VARCHAR)[] AS tensors
FROM query_table(shapes) AS s
WHERE false;
