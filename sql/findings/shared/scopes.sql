-- One row per rank with GPU activity: what a finding of the rank is measured against.
--
-- `only_jobs`: jobs to look at (NULL: all).
-- `steady`: rows of shared_steady.
--
-- Returns job, rank and
--
--     step_count    steps that are measured; NULL without steps
--     unit_count    the number by which times are divided: step_count, or 1 without steps
--     typical_count the same for idle time, which is of typical steps
--     unit_ns       median whole_ns of these steps; without steps, the time from the first to the
--                   last activity of the rank
--     unit          `step` or `trace`
--     per_unit      `per step` or `in the trace`, for sentences
--     rank_count    ranks of the job with GPU activity
--     wait_ns       time per step (or in the trace) in which the rank's devices communicate and do
--                   not compute; includes waits for other ranks
--     is_bounding   whether the rank bounds the job: it has the least wait_ns, the lowest rank of
--                   equals
--
-- reads: busy_times, gpu_activities, in_measured_steps
CREATE OR REPLACE MACRO shared_scopes(only_jobs, steady) AS TABLE
WITH
step_times AS (
    SELECT
        job,
        rank,
        nullif(count(step), 0) AS step_count,
        greatest(1, count(step) FILTER (is_typical)) AS typical_count,
        round(median(whole_ns))::BIGINT AS whole_ns
    FROM query_table(steady)
    GROUP BY job, rank
),
of_jobs AS (
    SELECT a.job, a.rank, a.device, a.step, a.kind, a.start_ns, a.end_ns
    FROM gpu_activities AS a
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, a.job))
),
picked AS (
    SELECT * REPLACE (NULL::BIGINT AS step)
    FROM in_measured_steps(of_jobs, steady)
),
ranks_busy AS (
    SELECT
        job,
        rank,
        sum(span_ns)::BIGINT AS span_ns,
        sum(computation_or_communication_ns - computation_ns)::BIGINT AS wait_ns
    FROM busy_times(picked)
    GROUP BY job, rank
),
measured AS (
    SELECT
        t.job,
        t.rank,
        s.step_count,
        coalesce(s.step_count, 1) AS unit_count,
        s.typical_count,
        coalesce(s.whole_ns, t.span_ns) AS unit_ns,
        CASE WHEN s.step_count IS NULL THEN 'trace' ELSE 'step' END AS unit,
        CASE WHEN s.step_count IS NULL THEN 'in the trace' ELSE 'per step' END AS per_unit,
        count(*) OVER (PARTITION BY t.job) AS rank_count,
        t.wait_ns // coalesce(s.step_count, 1) AS wait_ns
    FROM ranks_busy AS t
    JOIN step_times AS s ON s.job = t.job AND s.rank = t.rank
)
SELECT
    *,
    row_number() OVER (PARTITION BY job ORDER BY wait_ns, rank) = 1 AS is_bounding
FROM measured;
