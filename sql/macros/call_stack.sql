-- Call stacks from nesting: which span of a thread runs inside which.
--
-- `spans` has event_id, thread, start_ns, end_ns and stack_end_ns, the instant at which the span
-- leaves the stack: its end, or earlier where another span crosses it. The caller of a span is the
-- last one to begin before it (of equal starts the longer is the outer, of equal spans the lower
-- event_id) that has not ended and ends no earlier than it. Spans are half-open: one of no length
-- lies in what begins at its instant, not in what ends there.
--
--     outer    [=====================)
--     inner        [====)  [====)            both depth 1
--     empty             |  |                 in outer; in the second inner
--     later                          [===)   depth 0
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
        4 * (stack_end_ns - (SELECT min(start_ns) FROM query_table(spans)))
        + CASE WHEN end_ns > start_ns THEN 0 ELSE 3 END AS moment,
        0 AS longest_first,
        0 AS lowest_first,
        -1 AS change
    FROM query_table(spans)
),
-- Every thread's changes add up to nothing, so one running sum serves all threads.
levels AS (
    SELECT
        event_id,
        thread,
        moment,
        -longest_first AS end_ns,
        (sum(change) OVER in_order - 1)::INTEGER AS depth,
        change
    FROM boundaries
    WINDOW in_order AS (
        ORDER BY thread, moment, longest_first, lowest_first ROWS UNBOUNDED PRECEDING
    )
),
begun AS (
    SELECT event_id, thread, moment, end_ns, depth, depth - 1 AS parent_depth
    FROM levels
    WHERE change = 1
),
outermost AS (
    SELECT event_id, thread, moment
    FROM begun
    WHERE depth = 0
)
SELECT
    child.event_id,
    (SELECT min(start_ns) FROM query_table(spans)) + child.moment // 4 AS start_ns,
    child.depth,
    parent.event_id AS parent_id,
    root.event_id AS root_id,
    coalesce(child.end_ns > parent.end_ns, false) AS crosses
FROM begun AS child
ASOF LEFT JOIN begun AS parent
    ON child.thread = parent.thread
    AND child.parent_depth = parent.depth
    AND child.moment >= parent.moment
ASOF LEFT JOIN outermost AS root
    ON child.thread = root.thread
    AND child.moment >= root.moment;
