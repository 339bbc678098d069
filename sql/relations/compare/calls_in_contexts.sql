-- How often operators are called per step, context and shape, and how long they take.
--
-- `in_contexts` are rows of ops_in_contexts. inside_ns is the time of the calls whose time is part
-- of the operator around them.
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

-- The contexts of `calls`, rows of calls_in_contexts, with names. `names` has the name of each
-- name_hash. name is the operator's name, in_name that of its caller (NULL: none). has_shapes is
-- true if all calls have shapes.
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
