-- Macros for the values of several runs of a program.
--
-- reads: gpu_activities, step_metrics, steps, traces

-- One row per run to compare: job, is_newest and start_ns. The rows are the newest run and the
-- earlier runs, as defined below.
--
--     newest_job    job of the newest run (NULL: the job that began last)
--     job_contains  text that the job names of all runs contain, including the newest run
--                   (NULL: any name)
--     run_limit     largest number of earlier runs; if there are more, the latest ones count
--
-- A job is an earlier run if all of these hold:
--   * The job ran on the same kinds of GPUs as the newest run.
--   * The job has the same world_size as the newest run.
--   * The job began before the newest run. If both began at the same time, or if one of the two
--     starts is not known, the job's name has to come before the name of the newest run.
CREATE OR REPLACE MACRO comparable_runs(newest_job, job_contains, run_limit) AS TABLE
WITH
jobs AS (
    SELECT
        t.job,
        min(t.start_ns) AS start_ns,
        string_agg(DISTINCT t.device_name, ', ' ORDER BY t.device_name) AS gpu,
        max(t.world_size) AS world_size
    FROM traces AS t
    WHERE job_contains IS NULL OR contains(t.job, job_contains)
    GROUP BY t.job
),
newest AS (
    SELECT *
    FROM jobs
    WHERE newest_job IS NULL OR job = newest_job
    ORDER BY start_ns DESC NULLS LAST, job DESC
    LIMIT 1
),
earlier AS (
    SELECT j.job, j.start_ns
    FROM jobs AS j
    JOIN newest AS n
        ON j.gpu IS NOT DISTINCT FROM n.gpu
        AND j.world_size IS NOT DISTINCT FROM n.world_size
        AND j.job <> n.job
        AND (
            j.start_ns < n.start_ns
            OR (coalesce(j.start_ns = n.start_ns, true) AND j.job < n.job)
        )
    ORDER BY j.start_ns DESC NULLS LAST, j.job DESC
    LIMIT CASE WHEN run_limit < 0 THEN 0 ELSE run_limit END
)
SELECT job, true AS is_newest, start_ns
FROM newest
UNION ALL
SELECT job, false AS is_newest, start_ns
FROM earlier;

-- One row per run and thing: job, kind, name and value_ns. A thing is a step metric or a kernel.
--
--     kind    name                    value_ns
--     step    metric of step_metrics  median over the run's steps, or the value of the whole run if
--                                     the run has no steps
--     kernel  name of an activity     GPU time per step and rank, or GPU time per rank if the run
--                                     has no steps
--
-- `runs` are rows of comparable_runs. If `short_names` is true, activities are grouped by short
-- name.
CREATE OR REPLACE MACRO values_of_runs(runs, short_names) AS TABLE
WITH
marked AS (
    SELECT s.job, s.rank, s.step, max(s.end_ns) - min(s.start_ns) AS step_ns
    FROM steps AS s
    WHERE list_contains((SELECT list(r.job) FROM query_table(runs) AS r), s.job)
    GROUP BY s.job, s.rank, s.step
),
sampled AS MATERIALIZED (
    SELECT job AS side, job, rank, step, step_ns
    FROM marked
    UNION ALL
    SELECT t.job AS side, t.job, t.rank, NULL AS step, NULL AS step_ns
    FROM traces AS t
    JOIN query_table(runs) AS r ON r.job = t.job
    WHERE t.job NOT IN (SELECT m.job FROM marked AS m)
),
metrics AS (
    FROM step_metrics(sampled, (SELECT list(r.job) FROM query_table(runs) AS r))
),
step_counts AS (
    SELECT job, count(*) AS step_count, bool_or(step IS NOT NULL) AS has_steps
    FROM sampled
    GROUP BY job
),
kernels AS (
    SELECT
        a.job,
        CASE WHEN short_names THEN a.short_name ELSE a.name END AS name,
        sum(a.dur_ns) FILTER (NOT c.has_steps OR a.step IS NOT NULL) AS total_ns,
        any_value(c.step_count) AS step_count
    FROM gpu_activities AS a
    JOIN step_counts AS c ON c.job = a.job
    GROUP BY ALL
)
SELECT job, 'kernel' AS kind, name, round(coalesce(total_ns, 0) / step_count)::BIGINT AS value_ns
FROM kernels
UNION ALL
SELECT side AS job, 'step' AS kind, name, round(median(value_ns))::BIGINT AS value_ns
FROM metrics
GROUP BY side, name;

-- One row per thing and run: kind, name, the columns of `runs` and value_ns.
--
-- If a run does not have a kernel, value_ns is NULL. If a run does not have a step metric, the run
-- has no row for the metric.
--
--     run_values  rows of values_of_runs
--     runs        rows of comparable_runs
CREATE OR REPLACE MACRO values_by_run(run_values, runs) AS TABLE
WITH
things AS (
    SELECT DISTINCT kind, name
    FROM query_table(run_values)
)
SELECT t.kind, t.name, r.*, v.value_ns
FROM things AS t
CROSS JOIN query_table(runs) AS r
LEFT JOIN query_table(run_values) AS v
    ON v.job = r.job AND v.kind = t.kind AND v.name IS NOT DISTINCT FROM t.name
WHERE t.kind = 'kernel' OR v.job IS NOT NULL;
