-- One row per group_id: covered_ns, the length of the union of the group's intervals.
--
-- `intervals` needs group_id, start_ns and end_ns.
--
-- The macro takes the intervals in order of start. An interval adds only its part after the latest
-- end of all earlier intervals. The header of busy_times has a drawing of these parts. It also says
-- why the macro lays the groups end to end on one axis of time.
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
