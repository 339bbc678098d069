-- The contexts of `reshaped` that have no other context of `reshaped` above them.
--
-- A context is an operator with its caller and its caller's caller, see ops_in_contexts. If the
-- shapes of an operator change, the shapes of the operators that it calls and of its backward pass
-- usually change too. The change begins in the uppermost operator. The macro therefore leaves out a
-- context if another context of `reshaped` is above this context. To find what is above a context,
-- the macro takes the context's call with the lowest op_key, and follows the chain of callers from
-- this call.
--
--     reshaped     contexts in which the frequencies of shapes differ between base and test
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
