-- The idle times that end with an activity, and what the activity waited for.
--
-- Needs job, rank, device, stream, event_id, start_ns, end_ns and launch_start_ns. Other columns of
-- `activities` are returned, too. Idle times are those of each (job, rank, device, stream). For
-- idle times of whole devices, pass a NULL stream.
--
-- Activities are taken by (start_ns, event_id). If one starts after the latest end before it, it
-- ends an idle time, which began at that end:
--
--     a  [=======)
--     b    [===)                    inside a
--     c              [====)         ends an idle time since the end of a, not of b
--     d                   [===)     none: starts where c ends
--
-- The cause is host_wait if the launch began after that end: there was nothing to run. It is
-- kernel_wait if the launch began before and the time is below kernel_gap_ns. Else it is other.
CREATE OR REPLACE MACRO idle_before(activities, kernel_gap_ns) AS TABLE
WITH
reached AS (
    SELECT
        *,
        max(end_ns) OVER (
            PARTITION BY job, rank, device, stream
            ORDER BY start_ns, event_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS idle_since_ns
    FROM query_table(activities)
)
SELECT
    *,
    start_ns - idle_since_ns AS gap_ns,
    CASE
        WHEN launch_start_ns > idle_since_ns THEN 'host_wait'
        WHEN gap_ns < kernel_gap_ns THEN 'kernel_wait'
        ELSE 'other'
    END AS cause
FROM reached
WHERE start_ns > idle_since_ns;
