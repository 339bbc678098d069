-- How much time the intervals of each group cover: the length of their union.
--
-- Needs group_id, start_ns and end_ns. Returns one row per group_id.
--
-- In order of start, each interval adds its part after the latest end before it. busy_times shows
-- this in a drawing, and says why the groups are laid end to end on one axis of time.
CREATE OR REPLACE MACRO covered_times(intervals) AS TABLE
WITH
picked AS (
    SELECT group_id, start_ns, end_ns
    FROM query_table(intervals)
),
spans AS (
    SELECT
        group_id,
        min(start_ns) AS first_start_ns,
        max(end_ns) - min(start_ns) AS span_ns
    FROM picked
    GROUP BY group_id
),
shifts AS (
    SELECT
        group_id,
        (sum(span_ns) OVER in_order - span_ns)::BIGINT - first_start_ns AS shift_ns
    FROM spans
    WINDOW in_order AS (ORDER BY group_id ROWS UNBOUNDED PRECEDING)
),
on_one_axis AS (
    SELECT
        shifts.group_id,
        a.start_ns + shifts.shift_ns AS start_ns,
        a.end_ns + shifts.shift_ns AS end_ns
    FROM picked AS a
    JOIN shifts ON shifts.group_id = a.group_id
),
reached AS (
    SELECT
        *,
        max(end_ns) OVER (
            ORDER BY start_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS until_ns
    FROM on_one_axis
)
SELECT
    group_id,
    -- greatest skips the NULL of the first interval.
    sum(greatest(0, end_ns - greatest(start_ns, until_ns)))::BIGINT AS covered_ns
FROM reached
GROUP BY group_id;
