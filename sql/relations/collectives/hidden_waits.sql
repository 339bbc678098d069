-- One row per wait in `waits`: how much of the wait is hidden by computation on the same device.
--
-- `waits`: kernels as in gpu_activities. The first wait_ns of a kernel are its wait. Needs job,
--          rank, device, event_id, start_ns, dur_ns, wait_ns, computed_before_ns and hidden_ns
-- `jobs`, `ranks`: the jobs and ranks of `waits` (NULL: all)
--
-- Returns the columns of `waits`, and
--
--     hidden_wait_ns  the part of wait_ns during which a computation runs on the device
--
-- If one of these holds, hidden_wait_ns follows from the kernel's own row:
--   * The kernel is hidden completely or not at all.
--   * The kernel waits for all of its time or not at all.
-- If hidden_ns is NULL, hidden_wait_ns is 0 if wait_ns is 0, else NULL.
--
-- All other kernels are partly hidden, and wait for a part of their time. Let the compute time at
-- an instant be how long computations ran on the device before this instant. For these kernels,
-- hidden_wait_ns is the compute time at the end of the wait minus the compute time at its start,
-- which is computed_before_ns. The compute time at the end of the wait follows from the
-- computations that began before it:
--
--     end_ns   is the latest end of these computations
--     idle_ns  is the time without any computation before the start of the computation that
--              began last: its start_ns minus its computed_before_ns
--
--     a  [===)    [=====)
--     b               [=======)
--     instants           |          16: idle_ns 5, end_ns 21; compute time 16 - 5 = 11
--                                |  24: idle_ns 5, end_ns 21; compute time 21 - 5 = 16
--
-- The rows a and b are the computations of two streams of one device. A character is a unit of
-- time, and a begins at 0. The two instants are examples of the end of a wait. The compute time at
-- an instant is least(instant, end_ns) - idle_ns.
--
-- The devices are placed end to end on one axis of time, as in busy_times. Each device covers the
-- time from the first start of its partly hidden waits to their latest end. The device's part of
-- the axis begins at zero_ns. On the axis, end_ns and idle_ns of the device both have zero_ns
-- added, which cancels out.
--
-- reads: gpu_activities
CREATE OR REPLACE MACRO hidden_waits(waits, jobs, ranks) AS TABLE
WITH
computations AS (
    SELECT a.job, a.rank, a.device, a.start_ns, a.dur_ns, a.computed_before_ns
    FROM gpu_activities AS a
    WHERE a.kind = 'computation'
      AND (jobs IS NULL OR list_contains(jobs, a.job))
      AND (ranks IS NULL OR list_contains(ranks, a.rank))
),
partly_hidden AS MATERIALIZED (
    SELECT *, row_number() OVER () AS wait_id
    FROM query_table(waits)
    WHERE wait_ns > 0 AND wait_ns < dur_ns AND hidden_ns > 0 AND hidden_ns < dur_ns
),
devices AS MATERIALIZED (
    SELECT
        *,
        (sum(last_ns - first_ns + 1) OVER in_order - (last_ns - first_ns + 1))::BIGINT AS zero_ns
    FROM (
        SELECT
            job,
            rank,
            device,
            min(start_ns) AS first_ns,
            max(start_ns + wait_ns) AS last_ns,
            min(computed_before_ns) AS first_computed_ns
        FROM partly_hidden
        GROUP BY job, rank, device
    )
    WINDOW in_order AS (ORDER BY job, rank, device ROWS UNBOUNDED PRECEDING)
),
placed AS MATERIALIZED (
    SELECT
        w.*,
        d.zero_ns,
        d.zero_ns + w.start_ns + w.wait_ns - d.first_ns AS until_ns,
        w.computed_before_ns - d.first_computed_ns AS computed_ns
    FROM partly_hidden AS w
    JOIN devices AS d
        ON d.job = w.job AND d.rank = w.rank AND d.device IS NOT DISTINCT FROM w.device
),
moments AS (
    SELECT
        d.zero_ns + greatest(0, c.start_ns - d.first_ns) AS at_ns,
        d.zero_ns + least(c.start_ns + c.dur_ns, d.last_ns) - d.first_ns AS end_ns,
        d.zero_ns + (c.start_ns - d.first_ns) - (c.computed_before_ns - d.first_computed_ns)
            AS idle_ns,
        NULL::BIGINT AS wait_id
    FROM computations AS c
    JOIN devices AS d
        ON d.job = c.job AND d.rank = c.rank AND d.device IS NOT DISTINCT FROM c.device
    WHERE greatest(c.start_ns, d.first_ns) < least(c.start_ns + c.dur_ns, d.last_ns)
    UNION ALL BY NAME
    SELECT until_ns AS at_ns, wait_id
    FROM placed
),
begun AS (
    SELECT
        wait_id,
        max(end_ns) OVER until_then AS end_ns,
        max(idle_ns) OVER until_then AS idle_ns
    FROM moments
    WINDOW until_then AS (ORDER BY at_ns)
)
SELECT
    *,
    CASE
        WHEN hidden_ns = 0 OR wait_ns = 0 THEN 0
        WHEN hidden_ns = dur_ns THEN wait_ns
        WHEN wait_ns = dur_ns THEN hidden_ns
    END AS hidden_wait_ns
FROM query_table(waits)
WHERE (wait_ns > 0 AND wait_ns < dur_ns AND hidden_ns > 0 AND hidden_ns < dur_ns) IS NOT TRUE
UNION ALL BY NAME
-- Before a device's first computation, end_ns and idle_ns belong to the previous device on the
-- axis, or are NULL. greatest() then replaces them by zero_ns.
SELECT
    p.* EXCLUDE (wait_id, zero_ns, until_ns, computed_ns),
    least(p.until_ns, greatest(b.end_ns, p.zero_ns)) - greatest(b.idle_ns, p.zero_ns)
        - p.computed_ns AS hidden_wait_ns
FROM placed AS p
JOIN begun AS b ON b.wait_id = p.wait_id;
