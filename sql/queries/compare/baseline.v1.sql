-- Usual values of a job's earlier runs and their noise: what to expect of the next run.
--
-- The runs are jobs of the archive, in the order in which they began. If they began at the same
-- time, or if a start is not known, their names give the order. The query takes the last
-- `run_limit` jobs before `newest_job` that ran on the same kind of GPU with the same number of
-- ranks. If the names of a program's jobs have a text in common, `job_contains` selects them.
--
--     kind    name                  value of a run
--     step    as in step_diff       median over its steps of the mean over its ranks
--     kernel  name of the kernel    sum of its calls in steps, per step and rank
--
-- A run without steps is measured as a whole. A kernel that a run does not have takes 0 ns there.
--
-- The interval from low_ns to high_ns contains the value of one more run in at least 995 of 1,000
-- cases, by Student's t about the mean of the runs. If there are five runs or more, a fifth of them
-- at each end is left out. `regressions` compares the newest run with this interval.
--
-- since: 0.1
-- grain: kind, name
-- returns:
--   kind       VARCHAR  -      step or kernel
--   name       VARCHAR  -      metric of the step, or name of the kernel
--   run_count  BIGINT   count  earlier runs
--   mean_ns    BIGINT   ns     trimmed mean of the runs
--   median_ns  BIGINT   ns     median of the runs
--   mad_ns     BIGINT   ns     median absolute deviation of the runs from their median
--   low_ns     BIGINT   ns     lower end of the expected interval; NULL if there are fewer than two
--                              runs
--   high_ns    BIGINT   ns     upper end of the expected interval; NULL if low_ns is NULL
--   min_ns     BIGINT   ns     smallest value of the runs
--   max_ns     BIGINT   ns     largest value of the runs
--   first_job  VARCHAR  -      job of the earliest run
--   last_job   VARCHAR  -      job of the latest run before the newest
-- check: run_count > 0
-- check: low_ns <= mean_ns AND mean_ns <= high_ns
-- check: min_ns <= median_ns AND median_ns <= max_ns AND mad_ns >= 0
-- reads: comparable_runs, median_deviation, noise_t, standard_error, trimmed_mean, values_by_run,
--   values_of_runs
CREATE OR REPLACE MACRO baseline_v1(
    newest_job VARCHAR := NULL,  -- runs before this job [default: before the one that began last]
    job_contains VARCHAR := NULL,  -- only jobs whose names contain this [default: all]
    run_limit INTEGER := 10,  -- maximum number of runs; the latest ones count
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
    round(
        trimmed_mean(s.of_runs) - noise_t(s.of_runs, [0]) * standard_error(s.of_runs, [0])
    )::BIGINT AS low_ns,
    round(
        trimmed_mean(s.of_runs) + noise_t(s.of_runs, [0]) * standard_error(s.of_runs, [0])
    )::BIGINT AS high_ns,
    list_min(s.of_runs) AS min_ns,
    list_max(s.of_runs) AS max_ns,
    e.first_job,
    e.last_job
FROM sorted AS s
CROSS JOIN ends AS e
ORDER BY s.kind DESC, mean_ns DESC, s.name;
