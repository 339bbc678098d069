-- Gives what lies in the tail of a crossed operator, annotation or module back to it.
--
-- A crossed span leaves the stack at its cut; from there to its end it has no children. But what
-- begins and ends there still runs inside it, and it may be the innermost of its kind: as often as
-- an operator ends a moment after the annotation around it, because both were rounded.
--
--     annotation   [=====|.........)
--     operator           [===========)      crosses the annotation
--     launch                [==)            in both

CREATE OR REPLACE TEMP TABLE tails AS
SELECT spans.event_id, cut_places.cut_at, spans.end_at
FROM cut_places
JOIN host_spans AS spans ON spans.event_id = cut_places.event_id
WHERE spans.is_op OR spans.is_annotation OR spans.is_module;

CREATE OR REPLACE TEMP TABLE in_tails AS
SELECT inside.event_id, tails.event_id AS tail_id
FROM host_spans AS inside
JOIN tails
    ON inside.start_at >= tails.cut_at
    AND inside.start_at < tails.end_at
WHERE inside.end_at <= tails.end_at;

-- Of a kind, the one that began last; of equal starts the shorter, of equal spans the higher id.
CREATE OR REPLACE TEMP TABLE innermost AS
WITH
around AS (
    SELECT event_id, tail_id AS around_id
    FROM in_tails
    UNION ALL
    SELECT event_id, unnest([op_id, annotation_id, module_id, backward_id]) AS around_id
    FROM stack
    WHERE event_id IN (SELECT event_id FROM in_tails)
)
SELECT
    around.event_id,
    arg_max(spans.event_id, (spans.start_at, -spans.end_at, spans.event_id))
        FILTER (spans.is_op AND spans.event_id <> around.event_id) AS op_id,
    arg_max(spans.event_id, (spans.start_at, -spans.end_at, spans.event_id))
        FILTER (spans.is_annotation) AS annotation_id,
    arg_max(spans.event_id, (spans.start_at, -spans.end_at, spans.event_id))
        FILTER (spans.is_module) AS module_id,
    arg_max(spans.event_id, (spans.start_at, -spans.end_at, spans.event_id))
        FILTER (spans.begins_backward) AS backward_id
FROM around
JOIN host_spans AS spans ON spans.event_id = around.around_id
GROUP BY around.event_id;

CREATE OR REPLACE TEMP TABLE mended_stack AS
SELECT
    stack.* REPLACE (
        coalesce(innermost.op_id, stack.op_id) AS op_id,
        coalesce(innermost.annotation_id, stack.annotation_id) AS annotation_id,
        coalesce(innermost.module_id, stack.module_id) AS module_id,
        coalesce(innermost.backward_id, stack.backward_id) AS backward_id
    )
FROM stack
LEFT JOIN innermost ON innermost.event_id = stack.event_id;

CREATE OR REPLACE TEMP VIEW stack AS
FROM mended_stack;
