-- Call stacks from nesting: which span of a thread runs inside which.
--
-- `spans` has event_id, thread, start_ns, end_ns, is_op and is_annotation, and stack_end_ns, the
-- instant at which the span leaves the stack: its end, or earlier where another span crosses it.
-- The caller of a span is the last one to begin before it (of equal starts the longer is the outer,
-- of equal spans the lower event_id) that has not ended and ends no earlier than it. Spans are
-- half-open: one of no length lies in what begins at its instant, not in what ends there.
--
--     outer    [=====================)
--     inner        [====)  [====)            both depth 1
--     empty             |  |                 in outer; in the second inner
--     later                          [===)   depth 0
--
-- A span's operator and annotation are the innermost ones around it: its caller, or the caller's;
-- where spans cross, sql/enrich/tails.sql adds those that have left the stack.
--
-- `crosses` tells a span that outlives its caller: then stack_end_ns has to come first from
-- sql/enrich/nesting.sql.
CREATE OR REPLACE MACRO call_stack(spans) AS TABLE
WITH
-- Four moments at one instant, in this order: spans end, spans begin, empty spans begin and end.
boundaries AS (
    SELECT
        event_id,
        thread,
        is_op,
        is_annotation,
        4 * (start_ns - (SELECT min(start_ns) FROM query_table(spans)))
        + CASE WHEN end_ns > start_ns THEN 1 ELSE 2 END AS moment,
        -end_ns AS longest_first,
        event_id AS lowest_first,
        1 AS change
    FROM query_table(spans)
    UNION ALL
    SELECT
        event_id,
        thread,
        is_op,
        is_annotation,
        4 * (stack_end_ns - (SELECT min(start_ns) FROM query_table(spans)))
        + CASE WHEN end_ns > start_ns THEN 0 ELSE 3 END AS moment,
        0 AS longest_first,
        0 AS lowest_first,
        -1 AS change
    FROM query_table(spans)
),
-- Every thread's changes add up to nothing, so one running sum serves all threads; and one number
-- counts all that is open, the operators among it, and the annotations, in 20 bits each.
counted AS (
    SELECT
        event_id,
        thread,
        moment,
        -longest_first AS end_ns,
        change,
        is_op,
        is_annotation,
        sum(change * (1 + (is_op::BIGINT << 20) + (is_annotation::BIGINT << 40))) OVER (
            ORDER BY thread, moment, longest_first, lowest_first ROWS UNBOUNDED PRECEDING
        )::BIGINT AS open_counts
    FROM boundaries
),
-- A level is a thread and a count of what is open on it. What opened a level last is open there:
-- that finds callers without climbing.
begun AS MATERIALIZED (
    SELECT
        event_id,
        thread,
        moment,
        end_ns,
        is_op,
        is_annotation,
        (thread::BIGINT << 20) + (open_counts & 1048575) AS level,
        (thread::BIGINT << 20) + ((open_counts >> 20) & 1048575) AS op_level,
        (thread::BIGINT << 20) + (open_counts >> 40) AS annotation_level
    FROM counted
    WHERE change = 1
),
callers AS MATERIALIZED (
    SELECT
        child.event_id,
        child.moment,
        child.level,
        child.op_level - child.is_op::BIGINT AS level_of_its_op,
        caller.event_id AS parent_id,
        coalesce(caller.is_op, false) AS is_called_by_op,
        coalesce(child.end_ns > caller.end_ns, false) AS crosses
    FROM begun AS child
    ASOF LEFT JOIN begun AS caller
        ON child.level - 1 = caller.level
        AND child.moment >= caller.moment
),
begun_ops AS (
    SELECT event_id, moment, op_level
    FROM begun
    WHERE is_op
),
-- Only for those whose caller is none.
sought_ops AS (
    SELECT event_id, moment, level_of_its_op
    FROM callers
    WHERE NOT is_called_by_op AND level_of_its_op & 1048575 > 0
),
ops AS (
    SELECT sought.event_id, op.event_id AS op_id
    FROM sought_ops AS sought
    ASOF JOIN begun_ops AS op
        ON sought.level_of_its_op = op.op_level
        AND sought.moment >= op.moment
),
begun_annotations AS (
    SELECT event_id, moment, annotation_level
    FROM begun
    WHERE is_annotation
),
sought_annotations AS (
    SELECT event_id, moment, annotation_level - is_annotation::BIGINT AS level_of_its_annotation
    FROM begun
    WHERE annotation_level & 1048575 > is_annotation::BIGINT
),
annotations AS (
    SELECT sought.event_id, annotation.event_id AS annotation_id
    FROM sought_annotations AS sought
    ASOF JOIN begun_annotations AS annotation
        ON sought.level_of_its_annotation = annotation.annotation_level
        AND sought.moment >= annotation.moment
),
outermost AS (
    SELECT event_id, thread, moment
    FROM begun
    WHERE level & 1048575 = 1
),
roots AS (
    SELECT child.event_id, root.event_id AS root_id
    FROM begun AS child
    ASOF JOIN outermost AS root
        ON child.thread = root.thread
        AND child.moment >= root.moment
)
SELECT
    callers.event_id,
    (SELECT min(start_ns) FROM query_table(spans)) + callers.moment // 4 AS start_ns,
    ((callers.level & 1048575) - 1)::INTEGER AS depth,
    callers.parent_id,
    roots.root_id,
    CASE WHEN callers.is_called_by_op THEN callers.parent_id ELSE ops.op_id END AS op_id,
    annotations.annotation_id,
    callers.crosses
FROM callers
JOIN roots ON roots.event_id = callers.event_id
LEFT JOIN ops ON ops.event_id = callers.event_id
LEFT JOIN annotations ON annotations.event_id = callers.event_id;
