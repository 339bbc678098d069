-- One row per sample, context and shape: the number of operator calls and their host time.
--
-- `in_contexts` are rows of ops_in_contexts, which defines the columns that are not listed here. A
-- sample is one step on one side (base or test), with all ranks of the side.
--
--     times      number of calls
--     total_ns   sum of the durations of the calls
--     inside_ns  sum of the durations of the calls for which is_inside is true. The caller's time
--                contains these durations
--     has_dims   true if at least one of the calls has recorded shapes
CREATE OR REPLACE MACRO calls_in_contexts(in_contexts) AS TABLE
SELECT
    sample,
    context,
    whole,
    in_hash,
    around_hash,
    name_hash,
    dims_hash,
    bool_or(has_dims) AS has_dims,
    count(*) AS times,
    sum(dur_ns) AS total_ns,
    sum(CASE WHEN is_inside THEN dur_ns ELSE 0 END) AS inside_ns
FROM query_table(in_contexts)
GROUP BY sample, context, whole, in_hash, around_hash, name_hash, dims_hash;

-- One row per context in `calls`, with the names of the operator and its caller.
--
-- `calls` are rows of calls_in_contexts. `names` has name_hash and name of all operators.
--
--     name        name of the operator
--     in_name     name of the operator's caller (NULL: no caller)
--     has_shapes  true if has_dims is true in all rows of the context
CREATE OR REPLACE MACRO named_contexts(calls, names) AS TABLE
WITH
contexts AS (
    SELECT
        context,
        any_value(whole) AS whole,
        any_value(in_hash) AS in_hash,
        any_value(name_hash) AS name_hash,
        bool_and(has_dims) AS has_shapes
    FROM query_table(calls)
    GROUP BY context
)
SELECT c.context, c.whole, c.name_hash, c.has_shapes, n.name, p.name AS in_name
FROM contexts AS c
JOIN query_table(names) AS n ON n.name_hash = c.name_hash
LEFT JOIN query_table(names) AS p ON p.name_hash = c.in_hash;
