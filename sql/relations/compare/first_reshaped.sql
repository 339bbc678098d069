-- Where changed shapes begin: the rows of `reshaped` that do not follow from another one of them.
--
-- Changed shapes pass from an operator to all operators below it, and to its backward pass. So a
-- context is left out if another context of `reshaped` is above it. What is above is taken from one
-- of its calls. `in_contexts` are rows of ops_in_contexts.
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
