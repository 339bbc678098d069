-- One row per job: its traces, and how the rank that bounds the job spends a step.
--
-- `only_jobs`: jobs to look at (NULL: all).
--
-- Returns job, rank_count, world_size and device_name of its traces, and of the rank that bounds
-- the job, as in shared_scopes, its rank, step_count, unit_ns and unit. These and the next columns
-- are NULL for a job without GPU activities:
--
--     mean_ns                   mean duration of a step; without steps, the time from the first to
--                               the last activity
--     compute_ns                part of mean_ns with computation
--     exposed_communication_ns  part with communication, but without computation
--     exposed_memory_ns         part with copies or memsets and nothing else
--     idle_ns                   the rest, without any activity
--     before_first_ns           part of idle_ns before a device's first activity in the trace
--
-- Times of several devices are means over them. A step begins when the step before ends. A
-- ProfilerStep can begin later: when it begins on the host. A step ends at its end on the host, or
-- when the last activity that was launched in it ends, whichever is later. So it contains the idle
-- time between the activities of successive steps:
--
--     host    [ProfilerStep#1)[ProfilerStep#2)
--     device     [==1===)  [1=)     [==2===) [2===)
--     steps   [       1       )[         2        )
--
-- For busy_times, the time outside of the measured steps counts as computation, and is subtracted
-- afterwards. So activities that the trace does not link to a step count, too.
--
-- reads: busy_times, gpu_activities, shared_scopes, shared_steady, traces
CREATE OR REPLACE MACRO job_splits(only_jobs) AS TABLE
WITH
measured_steps AS MATERIALIZED (
    FROM shared_steady(only_jobs)
),
bounding_ranks AS MATERIALIZED (
    SELECT *
    FROM shared_scopes(only_jobs, measured_steps)
    WHERE is_bounding
),
their_activities AS MATERIALIZED (
    SELECT a.job, a.rank, a.device, a.step, a.kind, a.start_ns, a.end_ns
    FROM gpu_activities AS a
    SEMI JOIN bounding_ranks AS b ON b.job = a.job AND b.rank = a.rank
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, a.job))
),
step_windows AS (
    SELECT m.job, m.rank, m.from_ns, m.until_ns
    FROM measured_steps AS m
    SEMI JOIN bounding_ranks AS b ON b.job = m.job AND b.rank = m.rank
    WHERE m.step IS NOT NULL
),
device_ends AS (
    SELECT job, rank, device, min(start_ns) AS first_ns, max(end_ns) AS last_ns
    FROM their_activities
    GROUP BY job, rank, device
),
-- The time before the first window, between windows and after the last one.
outside AS MATERIALIZED (
    SELECT
        w.job,
        w.rank,
        d.device,
        coalesce(lag(w.until_ns) OVER in_order, least(d.first_ns, w.from_ns)) AS start_ns,
        w.from_ns AS end_ns
    FROM step_windows AS w
    JOIN device_ends AS d ON d.job = w.job AND d.rank = w.rank
    WINDOW in_order AS (PARTITION BY w.job, w.rank, d.device ORDER BY w.from_ns, w.until_ns)
    UNION ALL
    SELECT
        w.job,
        w.rank,
        d.device,
        max(w.until_ns) AS start_ns,
        greatest(max(w.until_ns), any_value(d.last_ns)) AS end_ns
    FROM step_windows AS w
    JOIN device_ends AS d ON d.job = w.job AND d.rank = w.rank
    GROUP BY w.job, w.rank, d.device
),
covering AS (
    SELECT job, rank, device, NULL::BIGINT AS step, kind, start_ns, end_ns
    FROM their_activities
    UNION ALL
    SELECT job, rank, device, NULL::BIGINT AS step, 'computation' AS kind, start_ns, end_ns
    FROM outside
),
before_first AS (
    SELECT
        w.job,
        sum(greatest(least(d.first_ns, w.until_ns) - w.from_ns, 0)) AS before_first_ns
    FROM step_windows AS w
    JOIN device_ends AS d ON d.job = w.job AND d.rank = w.rank
    GROUP BY w.job
),
outside_times AS (
    SELECT job, sum(end_ns - start_ns) AS outside_ns
    FROM outside
    GROUP BY job
),
sums AS (
    SELECT
        t.job,
        count(*) * any_value(b.unit_count) AS part_count,
        sum(t.span_ns) - any_value(coalesce(o.outside_ns, 0)) AS total_ns,
        sum(t.computation_ns) - any_value(coalesce(o.outside_ns, 0)) AS compute_ns,
        sum(t.computation_or_communication_ns - t.computation_ns) AS exposed_communication_ns,
        sum(t.busy_ns - t.computation_or_communication_ns) AS exposed_memory_ns,
        any_value(coalesce(f.before_first_ns, 0)) AS before_first_ns
    FROM busy_times(covering) AS t
    JOIN bounding_ranks AS b ON b.job = t.job AND b.rank = t.rank
    LEFT JOIN outside_times AS o ON o.job = t.job
    LEFT JOIN before_first AS f ON f.job = t.job
    GROUP BY t.job
),
parts AS (
    SELECT
        job,
        (total_ns // part_count)::BIGINT AS mean_ns,
        (compute_ns // part_count)::BIGINT AS compute_ns,
        (exposed_communication_ns // part_count)::BIGINT AS exposed_communication_ns,
        (exposed_memory_ns // part_count)::BIGINT AS exposed_memory_ns,
        (before_first_ns // part_count)::BIGINT AS before_first_ns
    FROM sums
),
job_traces AS (
    SELECT
        t.job,
        count(DISTINCT t.rank) AS rank_count,
        max(t.world_size) AS world_size,
        string_agg(DISTINCT t.device_name, ', ' ORDER BY t.device_name) AS device_name
    FROM traces AS t
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, t.job))
    GROUP BY t.job
)
SELECT
    j.job,
    j.rank_count,
    j.world_size,
    j.device_name,
    b.rank,
    b.step_count,
    b.unit_ns,
    b.unit,
    p.mean_ns,
    p.compute_ns,
    p.exposed_communication_ns,
    p.exposed_memory_ns,
    p.mean_ns - p.compute_ns - p.exposed_communication_ns - p.exposed_memory_ns AS idle_ns,
    p.before_first_ns
FROM job_traces AS j
LEFT JOIN bounding_ranks AS b ON b.job = j.job
LEFT JOIN parts AS p ON p.job = j.job
ORDER BY j.job;
