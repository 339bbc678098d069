-- Step time and its parts, compared between two jobs and tested against noise.
--
-- The query compares two sides: the base (before) and the test (after). A side is a job, or some
-- ranks or steps of a job. Both sides can be of the same job. By default, the base is the first job
-- by name, and the test is the last job by name.
--
-- A row is one metric of a step. Rows are in this order:
--
--     step_time              duration of the step on the host
--     gpu_span               from the first activity's start to the last
--                            activity's end
--     gpu_busy               time with at least one activity
--     idle                   time in gpu_span without any activity
--     compute                time with computation
--     exposed_communication  time with communication but no computation
--     exposed_memory         time with copies or memsets and nothing else
--     communication          time with communication
--     memory                 time with copies or memsets
--     kernel_sum             sum of the activities' durations
--
--     gpu_span = idle + compute + exposed_communication + exposed_memory
--
-- All metrics except step_time cover the activities launched in the step, as in step_breakdown, and
-- are summed over a rank's devices. The value of a metric in one step is the mean over the ranks. A
-- metric that is always 0 has no row.
--
-- If a side has no steps, each metric has one value on that side, which covers the whole trace.
-- step_time has no value on that side.
--
-- Yuen's test (1974) decides whether the steps of the two sides differ. It compares the difference
-- of the two trimmed means with the scatter of the steps. A trimmed mean leaves out a fifth of the
-- values at each end, rounded down.
--
-- The interval from diff_low_ns to diff_high_ns contains the true difference in at least 995 of
-- 1,000 cases. This holds if the noise from run to run is no larger than the noise from step to
-- step. `regressions` uses the noise from run to run. With three steps on each side, a difference
-- is significant if it is at least seven times the standard deviation of a step. With one step on
-- each side, the noise is not known, and the interval is NULL.
--
-- since: 0.1
-- grain: name
-- needs: traces
-- returns:
--   name            VARCHAR  -      metric, as above
--   base_count      BIGINT   count  steps of the base in which the metric has a value
--   test_count      BIGINT   count  steps of the test in which the metric has a value
--   diff_count      BIGINT   count  test_count - base_count
--   base_total_ns   BIGINT   ns     sum of the values over the steps of the base
--   test_total_ns   BIGINT   ns     sum of the values over the steps of the test
--   diff_total_ns   BIGINT   ns     test_total_ns - base_total_ns
--   base_mean_ns    BIGINT   ns     trimmed mean over the steps of the base; NULL if base_count is
--                                   0
--   test_mean_ns    BIGINT   ns     trimmed mean over the steps of the test; NULL if test_count is
--                                   0
--   diff_mean_ns    BIGINT   ns     test_mean_ns - base_mean_ns; NULL if either is NULL
--   diff_low_ns     BIGINT   ns     lower end of the interval of diff_mean_ns; NULL if the noise is
--                                   not known
--   diff_high_ns    BIGINT   ns     upper end of the interval of diff_mean_ns; NULL if the noise is
--                                   not known
--   diff_ratio      DOUBLE   -      diff_mean_ns / base_mean_ns: 0.03 is 3 % more
--   base_median_ns  BIGINT   ns     median over the steps of the base
--   test_median_ns  BIGINT   ns     median over the steps of the test
--   base_mad_ns     BIGINT   ns     median absolute deviation of the steps of the base from their
--                                   median
--   test_mad_ns     BIGINT   ns     median absolute deviation of the steps of the test from their
--                                   median
--   is_significant  BOOLEAN  -      whether the interval excludes 0; NULL if the noise is not known
--   change          VARCHAR  -      added or deleted if only one side has values; increased or
--                                   decreased if significant; else unchanged; NULL if the noise is
--                                   not known and the means differ
-- check: base_count >= 0 AND test_count >= 0 AND base_count + test_count > 0
-- check: diff_low_ns <= diff_mean_ns AND diff_mean_ns <= diff_high_ns
-- check: diff_mean_ns <> 0 OR change = 'unchanged'
-- check: base_mad_ns >= 0 AND test_mad_ns >= 0
-- reads: compared_job_names, compared_steps, median_deviation, noise_t, standard_error,
--   step_metrics, trimmed_mean
CREATE OR REPLACE MACRO step_diff_v1(
    base_job VARCHAR := NULL,  -- job of the base [default: the first by name]
    test_job VARCHAR := NULL,  -- job of the test [default: the last by name]
    base_ranks INTEGER[] := NULL,  -- ranks of the base [default: all]
    test_ranks INTEGER[] := NULL,  -- ranks of the test [default: all]
    base_steps BIGINT[] := NULL,  -- steps of the base
                                  -- [default: all; the whole trace if there are no steps]
    test_steps BIGINT[] := NULL  -- steps of the test
                                 -- [default: all; the whole trace if there are no steps]
) AS TABLE
WITH
sampled AS MATERIALIZED (
    FROM compared_steps(
        base_job, test_job, base_ranks, test_ranks, base_steps, test_steps
    )
),
samples AS (
    FROM step_metrics(sampled, compared_job_names(base_job, test_job))
),
sides AS (
    SELECT
        name,
        list(value_ns ORDER BY value_ns) FILTER (side = 'base') AS base_sorted,
        list(value_ns ORDER BY value_ns) FILTER (side = 'test') AS test_sorted
    FROM samples
    GROUP BY name
    -- A metric that is always 0 has no row, for example GPU metrics without GPU activities.
    HAVING max(value_ns) > 0
),
measured AS (
    SELECT
        name,
        coalesce(len(base_sorted), 0) AS base_count,
        coalesce(len(test_sorted), 0) AS test_count,
        coalesce(list_sum(base_sorted), 0)::BIGINT AS base_total_ns,
        coalesce(list_sum(test_sorted), 0)::BIGINT AS test_total_ns,
        trimmed_mean(base_sorted) AS base_mean,
        trimmed_mean(test_sorted) AS test_mean,
        test_mean - base_mean AS diff_mean,
        noise_t(base_sorted, test_sorted) * standard_error(base_sorted, test_sorted) AS noise,
        list_median(base_sorted) AS base_median,
        list_median(test_sorted) AS test_median,
        median_deviation(base_sorted) AS base_mad,
        median_deviation(test_sorted) AS test_mad
    FROM sides
)
SELECT
    name,
    base_count,
    test_count,
    test_count - base_count AS diff_count,
    base_total_ns,
    test_total_ns,
    test_total_ns - base_total_ns AS diff_total_ns,
    round(base_mean)::BIGINT AS base_mean_ns,
    round(test_mean)::BIGINT AS test_mean_ns,
    test_mean_ns - base_mean_ns AS diff_mean_ns,
    CASE WHEN noise >= 0 THEN least(diff_mean_ns, round(diff_mean - noise)::BIGINT) END
        AS diff_low_ns,
    CASE WHEN noise >= 0 THEN greatest(diff_mean_ns, round(diff_mean + noise)::BIGINT) END
        AS diff_high_ns,
    diff_mean / nullif(base_mean, 0) AS diff_ratio,
    round(base_median)::BIGINT AS base_median_ns,
    round(test_median)::BIGINT AS test_median_ns,
    round(base_mad)::BIGINT AS base_mad_ns,
    round(test_mad)::BIGINT AS test_mad_ns,
    diff_low_ns > 0 OR diff_high_ns < 0 AS is_significant,
    CASE
        WHEN base_count = 0 THEN 'added'
        WHEN test_count = 0 THEN 'deleted'
        WHEN diff_mean_ns = 0 OR NOT is_significant THEN 'unchanged'
        WHEN diff_low_ns > 0 THEN 'increased'
        WHEN diff_high_ns < 0 THEN 'decreased'
    END AS change
FROM measured
ORDER BY
    list_position(
        ['step_time', 'gpu_span', 'gpu_busy', 'idle', 'compute', 'exposed_communication',
         'exposed_memory', 'communication', 'memory', 'kernel_sum'],
        name
    );
