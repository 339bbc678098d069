-- What the earlier runs of a job lead to expect of the next one: usual values and their noise.
--
-- The runs are jobs of the archive, in the order in which they began, by name where they did so at
-- once: those before `newest_job` that ran on the same GPUs with as many ranks, the last
-- `run_limit` of them. Name a program's jobs alike and `job_contains` picks them.
--
--     kind    name                  a run's value
--     step    as in step_diff       median over its steps of the mean over its ranks
--     kernel  name of the kernel    sum of its calls in steps / steps of ranks
--
-- Of a run without steps it is that of the whole. The interval from low_ns to high_ns is where the
-- value of one more run lies in 995 of 1,000 cases and more, by Student's t about the mean of the
-- runs; with five and more runs a fifth of them at either end does not count. A kernel that a run
-- has not takes no time there. `regressions` holds the newest run against it.
--
-- HTA has no counterpart.
--
-- since: 0.1
-- grain: kind, name
-- returns:
--   kind       VARCHAR  -      step or kernel
--   name       VARCHAR  -      what takes the time
--   run_count  BIGINT   count  earlier runs
--   mean_ns    BIGINT   ns     of the runs, trimmed
--   median_ns  BIGINT   ns     of the runs
--   mad_ns     BIGINT   ns     median distance of the runs to their median
--   low_ns     BIGINT   ns     lower end of what is expected; NULL: less than two runs
--   high_ns    BIGINT   ns     upper end
--   min_ns     BIGINT   ns     least of the runs
--   max_ns     BIGINT   ns     largest of the runs
--   first_job  VARCHAR  -      the earliest run
--   last_job   VARCHAR  -      the latest one before the newest
-- check: run_count > 0
-- check: low_ns <= mean_ns AND mean_ns <= high_ns
-- check: min_ns <= median_ns AND median_ns <= max_ns AND mad_ns >= 0
-- reads: comparable_runs, median_deviation, noise_t, standard_error, trimmed_mean, values_by_run,
--   values_of_runs
CREATE OR REPLACE MACRO baseline_v1(
    newest_job VARCHAR := NULL,  -- runs before this one [default: before the one that began last]
    job_contains VARCHAR := NULL,  -- only jobs with this in their names [default: all]
    run_limit INTEGER := 10,  -- at most so many runs, the last ones
    short_names BOOLEAN := true  -- kernels' names without template arguments and parameters
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
