-- One row per activity that ends an idle time: how long the idle time is, and its cause.
--
-- `activities` has job, rank, device, stream, event_id, start_ns, end_ns and launch_start_ns.
-- `kernel_gap_ns`: a kernel_wait is shorter than this (ns).
--
-- Returns all columns of `activities`, and idle_since_ns, gap_ns and cause. Each (job, rank,
-- device, stream) has its own idle times. For idle times of whole devices, pass a NULL stream.
--
-- The activities are read in the order of (start_ns, event_id). idle_since_ns is the latest end
-- of all earlier activities. If an activity starts after this latest end, it ends an idle time:
--
--     a  [=======)
--     b    [===)                    inside a
--     c              [====)         ends an idle time since the end of a, not of b
--     d                   [===)     no idle time: d starts where c ends
--
-- The cause is one of:
--
--   * host_wait: the launch began after idle_since_ns. Until then there was nothing to run.
--   * kernel_wait: not host_wait, and the idle time is shorter than kernel_gap_ns.
--   * other: neither host_wait nor kernel_wait.
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
