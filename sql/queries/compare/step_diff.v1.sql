-- What a step takes in one job and in another, and whether the difference is beyond noise.
--
-- The base is what was before, the test what is asked about: jobs, or ranks or steps of one job or
-- of two. Where no job is named, the base is the first by name, the test the last.
--
-- A row is something that a step spends time with, a value of it the mean over the ranks in one
-- step. step_time is the step's time on the host. The others are of the activities launched in the
-- step, as in step_breakdown, summed over a rank's devices: idle, compute, exposed_communication
-- and exposed_memory add up to gpu_span, from the first one's start to the last one's end.
-- kernel_sum is the sum of their durations.
--
-- Whether two sets of steps differ is told by Yuen's test (1974): by their trimmed means, a fifth
-- of the values left out at either end, and how far the steps scatter. The interval from
-- diff_low_ns to diff_high_ns holds the true difference in 995 of 1,000 cases and more, as far as
-- the noise from run to run is that from step to step; regressions knows the noise of many runs. Of
-- three steps and three, a difference has to be seven times as large as a step's standard
-- deviation. One step and one tell nothing of noise: NULL.
--
-- A side without steps has one value, of all that was chosen, and no step_time.
--
-- HTA has no counterpart.
--
-- since: 0.1
-- grain: name
-- returns:
--   name            VARCHAR  -      what the time is spent with
--   base_count      BIGINT   count  steps of the base
--   test_count      BIGINT   count  likewise
--   diff_count      BIGINT   count  test - base, as all differences
--   base_total_ns   BIGINT   ns     sum over the steps
--   test_total_ns   BIGINT   ns     likewise
--   diff_total_ns   BIGINT   ns     likewise
--   base_mean_ns    BIGINT   ns     of a step, trimmed; NULL: none
--   test_mean_ns    BIGINT   ns     likewise
--   diff_mean_ns    BIGINT   ns     NULL where either has none
--   diff_low_ns     BIGINT   ns     lower end of the interval for diff_mean_ns; NULL: noise unknown
--   diff_high_ns    BIGINT   ns     upper end
--   diff_ratio      DOUBLE   -      diff_mean_ns / base_mean_ns: 0.03 is 3 % more
--   base_median_ns  BIGINT   ns     of a step
--   test_median_ns  BIGINT   ns     likewise
--   base_mad_ns     BIGINT   ns     median distance of the steps to their median
--   test_mad_ns     BIGINT   ns     likewise
--   is_significant  BOOLEAN  -      the interval leaves out 0; NULL: noise unknown
--   change          VARCHAR  -      added, deleted, and beyond noise increased or decreased; else
--                                   unchanged; NULL where noise is unknown
-- check: base_count >= 0 AND test_count >= 0 AND base_count + test_count > 0
-- check: diff_low_ns <= diff_mean_ns AND diff_mean_ns <= diff_high_ns
-- check: diff_mean_ns <> 0 OR change = 'unchanged'
-- check: base_mad_ns >= 0 AND test_mad_ns >= 0
-- reads: compared_job_names, compared_steps, median_deviation, noise_t, standard_error,
--   step_metrics, trimmed_mean
CREATE OR REPLACE MACRO step_diff_v1(
    base_job VARCHAR := NULL,  -- job that was before [default: the first by name]
    test_job VARCHAR := NULL,  -- job to compare with it [default: the last by name]
    base_ranks INTEGER[] := NULL,  -- ranks of the base [default: all]
    test_ranks INTEGER[] := NULL,  -- ranks of the test [default: all]
    base_steps BIGINT[] := NULL,  -- steps of the base [default: all, also outside steps]
    test_steps BIGINT[] := NULL  -- steps of the test [default: all, also outside steps]
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
    -- What there is nothing of, as of devices on a host without any, is no row.
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
