-- One row per activity that ends an idle time, as in idle_times: how long it is, and HTA's cause.
--
-- `activities` has launch_start_ns, and the columns for idle_times.
-- `kernel_gap_ns`: a kernel_wait is shorter than this (ns).
--
-- Returns all columns of `activities`, and idle_since_ns, gap_ns and cause. The cause is one of:
--
--   * host_wait: the launch began after idle_since_ns. Until then there was nothing to run.
--   * kernel_wait: not host_wait, and the idle time is shorter than kernel_gap_ns.
--   * other: neither host_wait nor kernel_wait.
--
-- reads: idle_times
CREATE OR REPLACE MACRO idle_before(activities, kernel_gap_ns) AS TABLE
SELECT
    *,
    CASE
        WHEN launch_start_ns > idle_since_ns THEN 'host_wait'
        WHEN gap_ns < kernel_gap_ns THEN 'kernel_wait'
        ELSE 'other'
    END AS cause
FROM idle_times(activities);
