-- Call stacks from nesting: which span of a thread runs inside which.
--
-- host_spans has event_id, thread, start_at, end_at, what a span is (is_op, is_annotation,
-- is_module, begins_backward), name_hash, and stack_end_at, the instant at which the span leaves
-- the stack: its end, or earlier where another span crosses it. The caller of a span is the last
-- one to begin before it (of equal starts the longer is the outer, of equal spans the lower
-- event_id) that has not ended and ends no earlier than it. Spans are half-open: one of no length
-- lies in what begins at its instant, not in what ends there.
--
--     outer    [=====================)
--     inner        [====)  [====)            both depth 1
--     empty             |  |                 in outer; in the second inner
--     later                          [===)   depth 0
--
-- A span's operator, annotation, module and backward pass are the innermost ones around it: its
-- caller, or the caller's; the backward pass may also be itself. The callers are from callers.sql;
-- where spans cross, nesting.sql tells when they leave the stack, tails.sql adds those that left.

-- The operator around each span that is in one but not called by one. Of the spans with as many
-- operators around them that begin before it, the last that an operator called has the same one.
CREATE OR REPLACE TEMP TABLE ops AS
WITH
seekers AS (
    SELECT place, level_of_its_op
    FROM callers
    WHERE NOT is_called_by_op AND level_of_its_op > 0
),
by_op_level AS (
    SELECT
        place,
        event_id,
        CASE WHEN is_called_by_op THEN parent_id END AS known_op_id
    FROM callers
    WHERE level_of_its_op IN (SELECT level_of_its_op FROM seekers)
    ORDER BY level_of_its_op, place
),
with_ops AS (
    SELECT
        place,
        event_id,
        arg_max(known_op_id, number) OVER (ROWS UNBOUNDED PRECEDING) AS op_id
    FROM (SELECT *, row_number() OVER () AS number FROM by_op_level)
)
SELECT event_id, op_id
FROM with_ops
WHERE place IN (SELECT place FROM seekers);

-- Annotations, modules and backward passes are few. From one of their boundaries to the next, which
-- is a stretch, the innermost of each kind stays the same.
CREATE OR REPLACE TEMP TABLE kind_boundaries AS
SELECT row_number() OVER () AS stretch, abs(outer_first) AS event_id, change, what
FROM (
    SELECT *
    FROM boundaries
    WHERE what > 1
    ORDER BY moment, longest_first, outer_first
);

-- Which of a kind is around which?
CREATE OR REPLACE TEMP TABLE of_kinds AS
WITH
each AS (
    SELECT 1 AS kind, event_id, stretch, change FROM kind_boundaries WHERE what & 2 = 2
    UNION ALL
    SELECT 2 AS kind, event_id, stretch, change FROM kind_boundaries WHERE what & 4 = 4
    UNION ALL
    SELECT 3 AS kind, event_id, stretch, change FROM kind_boundaries WHERE what & 8 = 8
),
leveled AS (
    SELECT
        *,
        sum(change) OVER (PARTITION BY kind ORDER BY stretch ROWS UNBOUNDED PRECEDING) AS level
    FROM each
),
beside_previous AS (
    SELECT
        *,
        lag(event_id) OVER of_kind AS previous_id,
        lag(level) OVER of_kind AS previous_level
    FROM leveled
    WHERE change = 1
    WINDOW of_kind AS (PARTITION BY kind ORDER BY stretch)
)
SELECT
    kind,
    event_id,
    CASE
        WHEN level > 1
        THEN arg_max(CASE WHEN previous_level = level - 1 THEN previous_id END, stretch)
            OVER (PARTITION BY kind, level ORDER BY stretch ROWS UNBOUNDED PRECEDING)
    END AS outer_id
FROM beside_previous;

-- The innermost of each kind: what begins with the stretch, or what is around that which ends.
CREATE OR REPLACE TEMP TABLE stretches AS
WITH
changes AS (
    SELECT
        kind_boundaries.stretch,
        of_kinds.kind,
        CASE kind_boundaries.change
            WHEN 1 THEN of_kinds.event_id
            ELSE coalesce(of_kinds.outer_id, -1)
        END AS innermost_id
    FROM kind_boundaries
    JOIN of_kinds ON of_kinds.event_id = kind_boundaries.event_id
),
at_each AS (
    SELECT
        stretch,
        max(innermost_id) FILTER (kind = 1) AS annotation_id,
        max(innermost_id) FILTER (kind = 2) AS module_id,
        max(innermost_id) FILTER (kind = 3) AS backward_id
    FROM changes
    GROUP BY stretch
)
SELECT
    stretch,
    nullif(arg_max(annotation_id, stretch) OVER so_far, -1) AS annotation_id,
    nullif(arg_max(module_id, stretch) OVER so_far, -1) AS module_id,
    nullif(arg_max(backward_id, stretch) OVER so_far, -1) AS backward_id
FROM at_each
WINDOW so_far AS (ORDER BY stretch ROWS UNBOUNDED PRECEDING);

CREATE OR REPLACE TEMP VIEW stack AS
SELECT
    callers.event_id,
    segments.step,
    (callers.level - 1)::INTEGER AS depth,
    callers.parent_id,
    callers.root_id,
    CASE WHEN callers.is_called_by_op THEN callers.parent_id ELSE ops.op_id END AS op_id,
    stretches.annotation_id,
    stretches.module_id,
    CASE WHEN callers.what & 8 = 8 THEN callers.event_id ELSE stretches.backward_id END
        AS backward_id,
    callers.stack_hash
FROM callers
LEFT JOIN step_segments AS segments ON segments.number = callers.segment
LEFT JOIN stretches ON stretches.stretch = callers.stretch
LEFT JOIN ops ON ops.event_id = callers.event_id;
