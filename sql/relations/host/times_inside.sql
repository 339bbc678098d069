-- One row per span that has other spans inside: the time of the spans directly inside it.
--
-- `spans` has point (a number per span), thread, event_id, start_ns, end_ns and stack_end_ns (when
-- the span leaves the stack).
--
-- Returns point and stack_ns. Each span directly inside counts from its start until it leaves the
-- stack. Spans are nested as in hta_sql/ingestion/stacks.py.
CREATE OR REPLACE MACRO times_inside(spans) AS TABLE
WITH
boundaries AS (
    SELECT
        thread,
        point,
        event_id,
        start_ns AS at_ns,
        CASE WHEN end_ns > start_ns THEN 1 ELSE 2 END AS phase,
        end_ns AS longest_first,
        stack_end_ns - start_ns AS stack_ns,
        1 AS change
    FROM query_table(spans)
    UNION ALL
    SELECT
        thread,
        point,
        event_id,
        stack_end_ns AS at_ns,
        CASE WHEN end_ns > start_ns THEN 0 ELSE 3 END AS phase,
        NULL AS longest_first,
        NULL AS stack_ns,
        -1 AS change
    FROM query_table(spans)
),
levels AS (
    SELECT
        *,
        sum(change) OVER in_order AS level,
        row_number() OVER in_order AS number
    FROM boundaries
    WINDOW in_order AS (
        PARTITION BY thread ORDER BY at_ns, phase, longest_first DESC, event_id
        ROWS UNBOUNDED PRECEDING
    )
),
-- At most one span is open per level: the last span that began on the level. So the caller of a
-- span is the last span that began one level further out.
callers_and_called AS (
    SELECT thread, level + 1 AS level, number, point AS outer_point, 0::BIGINT AS stack_ns
    FROM levels
    WHERE change = 1
    UNION ALL
    SELECT thread, level, number, NULL AS outer_point, stack_ns
    FROM levels
    WHERE change = 1
),
called AS (
    SELECT
        outer_point IS NULL AS is_called,
        arg_max(outer_point, number) OVER (
            PARTITION BY thread, level ORDER BY number ROWS UNBOUNDED PRECEDING
        ) AS outer_point,
        stack_ns
    FROM callers_and_called
)
SELECT outer_point AS point, sum(stack_ns) AS stack_ns
FROM called
WHERE is_called AND outer_point IS NOT NULL
GROUP BY outer_point;
