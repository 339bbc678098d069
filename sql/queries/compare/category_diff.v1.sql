-- Time of each kernel category, compared between two jobs.
--
-- The query compares two sides: the base (before) and the test (after). A side is a job, or some
-- ranks or steps of a job. Both sides can be of the same job. By default, the base is the first job
-- by name, and the test is the last job by name.
--
--     category     base       test       diff_per_step_ns
--     gemm         2 x 30 us  2 x 40 us  20,000
--     elementwise  5 x 10 us  -          -50,000
--     compiled     -          1 x 15 us  15,000
--
-- In this example, each side has one step on one rank. The base runs five elementwise kernels, for
-- 10 us each. In the test, one kernel of a compiler does their work.
--
-- category_breakdown explains the categories. Times are sums of durations, so activities that run
-- at the same time each count in full.
--
-- Counts and totals cover everything that is selected. If the sides differ in size, compare the
-- columns with `per_step` in their names. They are means per step and rank: the time of the
-- activities launched in steps, divided by the number of steps. For example, 10 steps on each of 4
-- ranks are 40 steps. For a side without steps, these columns are the total time divided by the
-- number of ranks. `change` compares only the counts.
--
-- With `by_kernel`, a row is one combination of category and kernel. A kernel can be in several
-- categories, since the operator that launches it can decide.
--
-- since: 0.1
-- grain: category, name
-- needs: gpu_activities
-- returns:
--   category          VARCHAR  -      kernel category, such as gemm
--   name              VARCHAR  -      name of the kernel, copy or memset; NULL without by_kernel
--   base_count        BIGINT   count  calls in the base
--   test_count        BIGINT   count  calls in the test
--   diff_count        BIGINT   count  test_count - base_count
--   base_total_ns     BIGINT   ns     sum of the durations in the base
--   test_total_ns     BIGINT   ns     sum of the durations in the test
--   diff_total_ns     BIGINT   ns     test_total_ns - base_total_ns
--   base_mean_ns      BIGINT   ns     mean duration in the base; NULL if base_count is 0
--   test_mean_ns      BIGINT   ns     mean duration in the test; NULL if test_count is 0
--   diff_mean_ns      BIGINT   ns     test_mean_ns - base_mean_ns; NULL if either is NULL
--   base_frac         DOUBLE   0-1    base_total_ns / sum of base_total_ns over all rows; NULL if
--                                     the sum is 0
--   test_frac         DOUBLE   0-1    test_total_ns / sum of test_total_ns over all rows; NULL if
--                                     the sum is 0
--   base_per_step_ns  BIGINT   ns     time of activities in steps of the base, per step and rank
--   test_per_step_ns  BIGINT   ns     time of activities in steps of the test, per step and rank
--   diff_per_step_ns  BIGINT   ns     test_per_step_ns - base_per_step_ns
--   diff_frac         DOUBLE   0-1    |diff_per_step_ns| / sum of |diff_per_step_ns| over all rows;
--                                     NULL if the sum is 0
--   change            VARCHAR  -      change of the count: added, deleted, increased, decreased,
--                                     unchanged
-- check: base_count >= 0 AND test_count >= 0 AND base_count + test_count > 0
-- check: diff_count = test_count - base_count AND diff_total_ns = test_total_ns - base_total_ns
-- check: (base_count = 0) = (base_mean_ns IS NULL) AND (test_count = 0) = (test_mean_ns IS NULL)
-- check: base_frac BETWEEN 0 AND 1 AND test_frac BETWEEN 0 AND 1
-- check: (change = 'unchanged') = (diff_count = 0)
-- check: diff_frac BETWEEN 0 AND 1
-- reads: categorised_activities_of, compared_jobs, compared_totals, is_compared, is_of_side,
--   named_jobs, totals_of_sides
CREATE OR REPLACE MACRO category_diff_v1(
    base_job VARCHAR := NULL,  -- job of the base [default: the first by name]
    test_job VARCHAR := NULL,  -- job of the test [default: the last by name]
    base_ranks INTEGER[] := NULL,  -- ranks of the base [default: all]
    test_ranks INTEGER[] := NULL,  -- ranks of the test [default: all]
    base_steps BIGINT[] := NULL,  -- steps of the base [default: the whole trace]
    test_steps BIGINT[] := NULL,  -- steps of the test [default: the whole trace]
    by_kernel BOOLEAN := false,  -- one row per category and kernel instead of per category
    short_names BOOLEAN := false  -- names without template arguments and parameters
) AS TABLE
WITH
categorised AS (
    FROM categorised_activities_of(
        named_jobs(base_job, test_job),
        CASE
            WHEN base_ranks IS NOT NULL AND test_ranks IS NOT NULL
            THEN list_concat(base_ranks, test_ranks)
        END,
        NULL
    )
),
activities AS (
    SELECT
        c.kernel_category AS category,
        CASE WHEN by_kernel THEN CASE WHEN short_names THEN c.short_name ELSE c.name END END
            AS name,
        c.dur_ns,
        c.step IS NOT NULL AS is_in_step,
        is_of_side(c.job, c.rank, c.step, j.base, base_ranks, base_steps) AS is_base,
        is_of_side(c.job, c.rank, c.step, j.test, test_ranks, test_steps) AS is_test
    FROM categorised AS c
    CROSS JOIN compared_jobs(base_job, test_job) AS j
    WHERE is_compared(c.job, j.base, j.test, base_job, test_job)
),
totals AS (
    SELECT
        category,
        name,
        totals_of_sides(dur_ns, is_base, is_test, is_in_step) AS sides
    FROM activities
    WHERE is_base OR is_test
    GROUP BY category, name
)
SELECT
    category,
    name,
    base_count,
    test_count,
    diff_count,
    base_total_ns,
    test_total_ns,
    diff_total_ns,
    base_mean_ns,
    test_mean_ns,
    diff_mean_ns,
    base_total_ns / nullif(sum(base_total_ns) OVER (), 0) AS base_frac,
    test_total_ns / nullif(sum(test_total_ns) OVER (), 0) AS test_frac,
    base_per_step_ns,
    test_per_step_ns,
    diff_per_step_ns,
    diff_frac,
    change
FROM compared_totals(
    totals, base_job, test_job, base_ranks, test_ranks, base_steps, test_steps
)
ORDER BY abs(diff_per_step_ns) DESC, abs(diff_total_ns) DESC, category, name;
