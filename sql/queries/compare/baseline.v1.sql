-- Step and kernel times of earlier runs, and the interval expected for the next run.
--
-- A run is a job of the archive. The query takes the last `run_limit` jobs that meet all of these
-- conditions:
--   * The job began before `newest_job`.
--   * The job ran on the same kind of GPU as `newest_job`.
--   * The job had the same number of ranks as `newest_job`.
--   * The job's name contains `job_contains`, if that is given.
--
-- If two jobs began at the same time, or if a start is not known, the first job by name counts as
-- the earlier one. The query assumes that the jobs are runs of the same program. If the archive has
-- runs of several programs, select one program with `job_contains`.
--
--     kind    name                 value of a run
--     step    metric of step_diff  median over the run's steps; the value of
--                                  a step is the mean over its ranks
--     kernel  name of the kernel   sum of the durations of its calls in
--                                  steps, per step and rank
--
-- If a run has no steps, its values cover the whole trace, per rank, and it has no step_time. If a
-- run does not have a kernel, the kernel's value in that run is 0.
--
-- The interval from low_ns to high_ns contains the value of one more run in at least 995 of 1,000
-- cases. The query computes it with Student's t around the trimmed mean of the runs. With five runs
-- or more, the trimmed mean leaves out a fifth of the runs at each end, rounded down. A time is not
-- negative, so the interval begins at 0 or later. `regressions` compares the newest run with it.
--
-- since: 0.1
-- grain: kind, name
-- needs: earlier_runs
-- returns:
--   kind       VARCHAR  -      step or kernel
--   name       VARCHAR  -      metric of the step, or name of the kernel
--   run_count  BIGINT   count  earlier runs that have a value: for step_time, the runs with steps
--   mean_ns    BIGINT   ns     trimmed mean of the runs' values
--   median_ns  BIGINT   ns     median of the runs' values
--   mad_ns     BIGINT   ns     median absolute deviation of the runs' values from their median
--   low_ns     BIGINT   ns     lower end of the expected interval; NULL if run_count is 1
--   high_ns    BIGINT   ns     upper end of the expected interval; NULL if low_ns is NULL
--   min_ns     BIGINT   ns     smallest value of a run
--   max_ns     BIGINT   ns     largest value of a run
--   first_job  VARCHAR  -      earliest run that the query takes
--   last_job   VARCHAR  -      latest run that the query takes
-- check: run_count > 0
-- check: 0 <= low_ns AND low_ns <= mean_ns AND mean_ns <= high_ns
-- check: min_ns <= median_ns AND median_ns <= max_ns AND mad_ns >= 0
-- reads: comparable_runs, expected_high, expected_low, median_deviation, trimmed_mean,
--   values_by_run, values_of_runs
CREATE OR REPLACE MACRO baseline_v1(
    newest_job VARCHAR := NULL,  -- newest run; only earlier runs count
                                 -- [default: the job that began last]
    job_contains VARCHAR := NULL,  -- only jobs whose names contain this [default: all]
    run_limit INTEGER := 10,  -- maximum number of earlier runs; the latest ones count
    short_names BOOLEAN := true  -- kernel names without template arguments and parameters
) AS TABLE
WITH
runs AS MATERIALIZED (
    FROM comparable_runs(newest_job, job_contains, run_limit)
),
earlier AS MATERIALIZED (
    SELECT job, start_ns
    FROM runs
    WHERE NOT is_newest
),
values_of AS MATERIALIZED (
    FROM values_of_runs(earlier, short_names)
),
sorted AS (
    SELECT kind, name, list(coalesce(value_ns, 0) ORDER BY coalesce(value_ns, 0)) AS of_runs
    FROM values_by_run(values_of, earlier)
    GROUP BY kind, name
),
ends AS (
    SELECT
        first(job ORDER BY start_ns NULLS FIRST, job) AS first_job,
        last(job ORDER BY start_ns NULLS FIRST, job) AS last_job
    FROM earlier
)
SELECT
    s.kind,
    s.name,
    len(s.of_runs) AS run_count,
    round(trimmed_mean(s.of_runs))::BIGINT AS mean_ns,
    round(list_median(s.of_runs))::BIGINT AS median_ns,
    round(median_deviation(s.of_runs))::BIGINT AS mad_ns,
    round(expected_low(s.of_runs))::BIGINT AS low_ns,
    round(expected_high(s.of_runs))::BIGINT AS high_ns,
    list_min(s.of_runs) AS min_ns,
    list_max(s.of_runs) AS max_ns,
    e.first_job,
    e.last_job
FROM sorted AS s
CROSS JOIN ends AS e
ORDER BY s.kind DESC, mean_ns DESC, s.name;
