-- Which kernels, copies and memsets run more or less often or long in one job than in another.
--
-- The base is what was before, the test what is asked about: jobs, or ranks or steps of one job or
-- of two. Where no job is named, the base is the first by name, the test the last.
--
--     kernel   base            test            count      per step
--     gemm     [==) [==)       [===) [===)     unchanged  2 longer
--     relu     [=)                             deleted    2 shorter
--     clone                    [=)             added      2 longer
--
-- Counts and totals are over all that was chosen. Where that is not equally much, the figures per
-- step compare: the total of what ran in steps by the number of steps of ranks; of a side without
-- steps the total by its ranks. `change` is of the count alone, as HTA has it. What is beyond noise
-- is in diff_causes.
--
-- With `by_shape`, kernels are told apart by their grid and block, too.
--
-- This is HTA's TraceDiff.compare_traces for devices, exact where its durations are cut to us, and
-- of activities alone: HTA counts synchronisations and annotations drawn on streams as well.
--
-- since: 0.1
-- grain: name, grid, block
-- returns:
--   name              VARCHAR   -      name of the kernel
--   grid              BIGINT[]  -      by_shape: blocks in x, y, z; else NULL
--   block             BIGINT[]  -      by_shape: threads in x, y, z; else NULL
--   kind              VARCHAR   -      computation, communication or memory
--   base_count        BIGINT    count  calls in the base
--   test_count        BIGINT    count  calls in the test
--   diff_count        BIGINT    count  test - base, as all differences
--   base_total_ns     BIGINT    ns     sum of the calls' durations
--   test_total_ns     BIGINT    ns     likewise
--   diff_total_ns     BIGINT    ns     likewise
--   base_mean_ns      BIGINT    ns     of a call; NULL: none
--   test_mean_ns      BIGINT    ns     likewise
--   diff_mean_ns      BIGINT    ns     NULL where either has none
--   base_per_step_ns  BIGINT    ns     sum of those in steps / steps of ranks
--   test_per_step_ns  BIGINT    ns     likewise
--   diff_per_step_ns  BIGINT    ns     likewise
--   diff_frac         DOUBLE    0-1    |diff_per_step_ns| / sum of these over all rows
--   change            VARCHAR   -      of the count: added, deleted, increased, decreased,
--                                      unchanged
-- check: base_count >= 0 AND test_count >= 0 AND base_count + test_count > 0
-- check: diff_count = test_count - base_count AND diff_total_ns = test_total_ns - base_total_ns
-- check: (base_count = 0) = (base_mean_ns IS NULL) AND (test_count = 0) = (test_mean_ns IS NULL)
-- check: (change = 'unchanged') = (diff_count = 0)
-- check: diff_frac BETWEEN 0 AND 1
-- reads: compared_jobs, compared_totals, gpu_activities, is_compared, is_of_side, totals_of_sides
CREATE OR REPLACE MACRO kernel_diff_v1(
    base_job VARCHAR := NULL,  -- job that was before [default: the first by name]
    test_job VARCHAR := NULL,  -- job to compare with it [default: the last by name]
    base_ranks INTEGER[] := NULL,  -- ranks of the base [default: all]
    test_ranks INTEGER[] := NULL,  -- ranks of the test [default: all]
    base_steps BIGINT[] := NULL,  -- steps of the base [default: all, also outside steps]
    test_steps BIGINT[] := NULL,  -- steps of the test [default: all, also outside steps]
    by_shape BOOLEAN := false,  -- a row for each name, grid and block, instead of each name
    short_names BOOLEAN := false  -- names without template arguments and parameters
) AS TABLE
WITH
activities AS (
    SELECT
        CASE WHEN short_names THEN a.short_name ELSE a.name END AS name,
        CASE WHEN by_shape THEN a.grid END AS grid,
        CASE WHEN by_shape THEN a.block END AS block,
        a.kind,
        a.dur_ns,
        a.step IS NOT NULL AS is_in_step,
        is_of_side(a.job, a.rank, a.step, j.base, base_ranks, base_steps) AS is_base,
        is_of_side(a.job, a.rank, a.step, j.test, test_ranks, test_steps) AS is_test
    FROM gpu_activities AS a
    CROSS JOIN compared_jobs(base_job, test_job) AS j
    WHERE is_compared(a.job, j.base, j.test, base_job, test_job)
),
totals AS (
    SELECT
        name,
        grid,
        block,
        min(kind) AS kind,
        totals_of_sides(dur_ns, is_base, is_test, is_in_step) AS sides
    FROM activities
    WHERE is_base OR is_test
    GROUP BY name, grid, block
)
SELECT
    name,
    grid,
    block,
    kind,
    base_count,
    test_count,
    diff_count,
    base_total_ns,
    test_total_ns,
    diff_total_ns,
    base_mean_ns,
    test_mean_ns,
    diff_mean_ns,
    base_per_step_ns,
    test_per_step_ns,
    diff_per_step_ns,
    diff_frac,
    change
FROM compared_totals(
    totals, base_job, test_job, base_ranks, test_ranks, base_steps, test_steps
)
ORDER BY abs(diff_per_step_ns) DESC, abs(diff_total_ns) DESC, name, grid, block;
