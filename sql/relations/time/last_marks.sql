-- One row per instant that has a mark at or before it: job, rank, event_id, mark_id and mark_ns of
-- the last of these marks. If several marks are at the same time, it is the one with the highest
-- mark_id.
--
--     instants  job, rank, event_id and at_ns
--     marks     job, rank, mark_id and at_ns
--
-- To find the first mark at or after each instant, negate all times.
CREATE OR REPLACE MACRO last_marks(instants, marks) AS TABLE
WITH
merged AS (
    SELECT job, rank, at_ns, NULL::BIGINT AS event_id, mark_id, at_ns AS mark_ns
    FROM query_table(marks)
    UNION ALL
    SELECT job, rank, at_ns, event_id, NULL AS mark_id, NULL AS mark_ns
    FROM query_table(instants)
),
with_marks AS (
    SELECT
        job,
        rank,
        event_id,
        last_value(mark_id IGNORE NULLS) OVER so_far AS mark_id,
        last_value(mark_ns IGNORE NULLS) OVER so_far AS mark_ns
    FROM merged
    WINDOW so_far AS (
        PARTITION BY job, rank
        ORDER BY at_ns, event_id NULLS FIRST, mark_id
        ROWS UNBOUNDED PRECEDING
    )
)
SELECT job, rank, event_id, mark_id, mark_ns
FROM with_marks
WHERE event_id IS NOT NULL AND mark_id IS NOT NULL;
