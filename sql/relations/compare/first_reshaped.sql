-- Where other shapes begin: of the contexts `reshaped`, those that are in or behind no other one.
--
-- Other shapes go down from an operator to all below it, and over to its backward pass. What is
-- around an operator is that of one of its calls. `in_contexts` are rows of ops_in_contexts.
CREATE OR REPLACE MACRO first_reshaped(reshaped, in_contexts) AS TABLE
WITH RECURSIVE
first_calls AS (
    SELECT o.context, min(o.op_key) AS op_key
    FROM query_table(in_contexts) AS o
    WHERE o.context IN (SELECT r.context FROM query_table(reshaped) AS r)
    GROUP BY o.context
),
above AS (
    SELECT f.context AS of_context, o.parent_key, NULL::UBIGINT AS context
    FROM first_calls AS f
    JOIN query_table(in_contexts) AS o ON o.op_key = f.op_key
    UNION ALL
    SELECT a.of_context, o.parent_key, o.context
    FROM above AS a
    JOIN query_table(in_contexts) AS o ON o.op_key = a.parent_key
),
follows AS (
    SELECT DISTINCT a.of_context AS context
    FROM above AS a
    WHERE a.context IN (SELECT r.context FROM query_table(reshaped) AS r)
      AND a.context <> a.of_context
)
SELECT r.*
FROM query_table(reshaped) AS r
ANTI JOIN follows ON follows.context = r.context;
