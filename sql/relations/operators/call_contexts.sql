-- What the arguments of a call do not show, but the calls around it or inside it do.
--
-- reads: contextual_operators

-- One row per call of an operator in contextual_operators that has a context: job, rank, event_id
-- and context.
--
-- `traced`: job, rank, event_id, op_id, annotation_id, is_op, name, input_dims and input_types of
--   rows of host_ops: these calls, operators inside them, and all annotations.
--
-- The context is a text, and the operator decides which:
--
--   * load: the name of the innermost annotation around the call that gives the sums of the lengths
--     of a step's sequences (see annotated_load). Each such name contains sqsk
--   * inside: the shapes of operators inside the call, one per line: sizes, a tab, types. Of
--     PyTorch's own operators, only views of tensors with three dimensions are in `traced`
CREATE OR REPLACE MACRO call_contexts(traced) AS TABLE
WITH RECURSIVE
contextual AS MATERIALIZED (
    SELECT t.job, t.rank, t.event_id, t.annotation_id, c.context
    FROM query_table(traced) AS t
    JOIN contextual_operators() AS c ON c.name = t.name
    WHERE t.is_op
),
-- From the annotation around a call outwards, to the first annotation with sums.
outwards AS (
    SELECT c.job, c.rank, c.event_id, c.annotation_id, NULL::VARCHAR AS name
    FROM contextual AS c
    WHERE c.context = 'load' AND c.annotation_id IS NOT NULL
    UNION ALL
    SELECT
        o.job,
        o.rank,
        o.event_id,
        t.annotation_id,
        CASE WHEN contains(t.name, 'sqsk') THEN t.name END AS name
    FROM outwards AS o
    JOIN query_table(traced) AS t
        ON t.job = o.job AND t.rank = o.rank AND t.event_id = o.annotation_id
    WHERE o.name IS NULL
)
SELECT job, rank, event_id, name AS context
FROM outwards
WHERE name IS NOT NULL
UNION ALL
SELECT
    c.job,
    c.rank,
    c.event_id,
    string_agg(
        DISTINCT concat(t.input_dims, chr(9), t.input_types), chr(10)
        ORDER BY concat(t.input_dims, chr(9), t.input_types)
    ) AS context
FROM contextual AS c
JOIN query_table(traced) AS t ON t.job = c.job AND t.rank = c.rank AND t.op_id = c.event_id
WHERE c.context = 'inside' AND t.is_op AND (t.name = 'aten::view' OR NOT prefix(t.name, 'aten::'))
GROUP BY c.job, c.rank, c.event_id;
