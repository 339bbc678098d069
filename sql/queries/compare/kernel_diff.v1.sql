-- Count and time of each kernel, copy and memset, compared between two jobs.
--
-- The query compares two sides: the base (before) and the test (after). A side is a job, or some
-- ranks or steps of a job. Both sides can be of the same job. By default, the base is the first job
-- by name, and the test is the last job by name.
--
--     kernel   base       test       change     diff_per_step_ns
--     gemm     2 x 30 us  2 x 40 us  unchanged  20,000
--     relu     1 x 20 us  -          deleted    -20,000
--     clone    -          1 x 20 us  added      20,000
--
-- In this example, each side has one step on one rank. The base calls gemm twice, for 30 us each.
--
-- Counts and totals cover everything that is selected. If the sides differ in size, compare the
-- columns with `per_step` in their names. They are means per step and rank: the time of the
-- activities launched in steps, divided by the number of steps. For example, 10 steps on each of 4
-- ranks are 40 steps. For a side without steps, these columns are the total time divided by the
-- number of ranks. `change` compares only the counts, as in HTA. diff_causes lists the changes that
-- exceed noise.
--
-- With `by_shape`, a row is one combination of name, grid and block.
--
-- HTA's TraceDiff.compare_traces returns the same values for devices, but cuts durations to whole
-- microseconds. HTA also counts synchronisations and annotations that are drawn on streams.
--
-- since: 0.1
-- grain: name, grid, block
-- needs: gpu_activities
-- returns:
--   name              VARCHAR   -      name of the kernel, copy or memset
--   grid              BIGINT[]  -      blocks in x, y, z; NULL without by_shape
--   block             BIGINT[]  -      threads of a block in x, y, z; NULL without by_shape
--   kind              VARCHAR   -      computation, communication or memory
--   base_count        BIGINT    count  calls in the base
--   test_count        BIGINT    count  calls in the test
--   diff_count        BIGINT    count  test_count - base_count
--   base_total_ns     BIGINT    ns     sum of the durations in the base
--   test_total_ns     BIGINT    ns     sum of the durations in the test
--   diff_total_ns     BIGINT    ns     test_total_ns - base_total_ns
--   base_mean_ns      BIGINT    ns     mean duration in the base; NULL if base_count is 0
--   test_mean_ns      BIGINT    ns     mean duration in the test; NULL if test_count is 0
--   diff_mean_ns      BIGINT    ns     test_mean_ns - base_mean_ns; NULL if either is NULL
--   base_per_step_ns  BIGINT    ns     time of activities in steps of the base, per step and rank
--   test_per_step_ns  BIGINT    ns     time of activities in steps of the test, per step and rank
--   diff_per_step_ns  BIGINT    ns     test_per_step_ns - base_per_step_ns
--   diff_frac         DOUBLE    0-1    |diff_per_step_ns| / sum of |diff_per_step_ns| over all
--                                      rows; NULL if the sum is 0
--   change            VARCHAR   -      change of the count: added, deleted, increased, decreased,
--                                      unchanged
-- check: base_count >= 0 AND test_count >= 0 AND base_count + test_count > 0
-- check: diff_count = test_count - base_count AND diff_total_ns = test_total_ns - base_total_ns
-- check: (base_count = 0) = (base_mean_ns IS NULL) AND (test_count = 0) = (test_mean_ns IS NULL)
-- check: (change = 'unchanged') = (diff_count = 0)
-- check: diff_frac BETWEEN 0 AND 1
-- reads: compared_jobs, compared_totals, gpu_activities, is_compared, is_of_side, totals_of_sides
CREATE OR REPLACE MACRO kernel_diff_v1(
    base_job VARCHAR := NULL,  -- job of the base [default: the first by name]
    test_job VARCHAR := NULL,  -- job of the test [default: the last by name]
    base_ranks INTEGER[] := NULL,  -- ranks of the base [default: all]
    test_ranks INTEGER[] := NULL,  -- ranks of the test [default: all]
    base_steps BIGINT[] := NULL,  -- steps of the base [default: the whole trace]
    test_steps BIGINT[] := NULL,  -- steps of the test [default: the whole trace]
    by_shape BOOLEAN := false,  -- one row per name, grid and block instead of per name
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
