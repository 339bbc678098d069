-- The rows of `reshaped` where changed shapes begin.
--
-- Changed shapes pass from an operator to all operators below it, and to its backward pass. The
-- macro therefore leaves out a context if another context of `reshaped` is above it. To find what
-- is above a context, the macro takes the context's call with the lowest op_key, and follows the
-- chain of callers from this call.
--
--     reshaped     contexts with changed shapes
--     in_contexts  rows of ops_in_contexts
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
