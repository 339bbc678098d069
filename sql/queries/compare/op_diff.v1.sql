-- Count and time of each operator and host call, compared between two jobs.
--
-- The query compares two sides: the base (before) and the test (after). A side is a job, or some
-- ranks or steps of a job. Both sides can be of the same job. By default, the base is the first job
-- by name, and the test is the last job by name.
--
-- All host calls count: operators, annotations, Python functions, runtime and driver calls. With
-- `only_cats := ['cpu_op']`, only operators count. The total time of a call includes the calls
-- inside it. Its self time leaves these calls out, so the self times of different rows can be added
-- up. An operator's kernels are the GPU activities that it launches itself, with no operator in
-- between, as self_kernel_ns in op_stats. Other calls have no kernels. Calls in replays of CUDA
-- graphs count, too, if they are known from the capture of the graph. They take no time of the
-- host.
--
-- The name of a Python function is without the number of its line, since any change above a
-- function moves its line.
--
-- Counts and totals cover everything that is selected. If the sides differ in size, compare the
-- columns with `per_step` in their names. They are means per step and rank: the time of the calls
-- that begin in steps, divided by the number of steps. For example, 10 steps on each of 4 ranks are
-- 40 steps. For a side without steps, these columns are the total time divided by the number of
-- ranks. `change` compares only the counts, as in HTA. diff_causes lists the changes that exceed
-- noise.
--
-- With `by_shape`, a row is one combination of name and shapes of the inputs. If an operator runs
-- on other shapes in the test, the result has two rows: `change` is deleted in the row with the old
-- shapes, and added in the row with the new shapes. input_dims is NULL if the profiler did not
-- record shapes.
--
-- HTA's TraceDiff.compare_traces and ops_diff return the same values for the host, but cut
-- durations to whole microseconds.
--
-- since: 0.1
-- grain: name, input_dims
-- needs: host_ops
-- returns:
--   name                    VARCHAR  -      name of the operator or call
--   input_dims              VARCHAR  -      sizes of the inputs, as JSON; NULL without by_shape
--   cat                     VARCHAR  -      category in the trace; if there are several, the first
--                                           by name
--   base_count              BIGINT   count  calls in the base
--   test_count              BIGINT   count  calls in the test
--   diff_count              BIGINT   count  test_count - base_count
--   base_total_ns           BIGINT   ns     sum of the durations in the base
--   test_total_ns           BIGINT   ns     sum of the durations in the test
--   diff_total_ns           BIGINT   ns     test_total_ns - base_total_ns
--   base_mean_ns            BIGINT   ns     mean duration in the base; NULL if base_count is 0
--   test_mean_ns            BIGINT   ns     mean duration in the test; NULL if test_count is 0
--   diff_mean_ns            BIGINT   ns     test_mean_ns - base_mean_ns; NULL if either is NULL
--   base_self_ns            BIGINT   ns     self time: sum of the durations in the base, without
--                                           the calls inside
--   test_self_ns            BIGINT   ns     self time: sum of the durations in the test, without
--                                           the calls inside
--   diff_self_ns            BIGINT   ns     test_self_ns - base_self_ns
--   base_self_kernel_count  BIGINT   count  GPU activities that the operator launches itself in the
--                                           base
--   test_self_kernel_count  BIGINT   count  GPU activities that the operator launches itself in the
--                                           test
--   diff_self_kernel_count  BIGINT   count  test_self_kernel_count - base_self_kernel_count
--   base_self_kernel_ns     BIGINT   ns     sum of the durations of these activities in the base
--   test_self_kernel_ns     BIGINT   ns     sum of the durations of these activities in the test
--   diff_self_kernel_ns     BIGINT   ns     test_self_kernel_ns - base_self_kernel_ns
--   base_per_step_ns        BIGINT   ns     time of calls in steps of the base, per step and rank
--   test_per_step_ns        BIGINT   ns     time of calls in steps of the test, per step and rank
--   diff_per_step_ns        BIGINT   ns     test_per_step_ns - base_per_step_ns
--   diff_frac               DOUBLE   0-1    |diff_per_step_ns| / sum of |diff_per_step_ns| over all
--                                           rows; NULL if the sum is 0
--   change                  VARCHAR  -      change of the count: added, deleted, increased,
--                                           decreased, unchanged
-- check: base_count >= 0 AND test_count >= 0 AND base_count + test_count > 0
-- check: diff_count = test_count - base_count AND diff_total_ns = test_total_ns - base_total_ns
-- check: base_self_ns BETWEEN 0 AND base_total_ns AND test_self_ns BETWEEN 0 AND test_total_ns
-- check: (base_count = 0) = (base_mean_ns IS NULL) AND (test_count = 0) = (test_mean_ns IS NULL)
-- check: base_self_kernel_ns >= 0 AND test_self_kernel_ns >= 0
-- check: (change = 'unchanged') = (diff_count = 0)
-- check: diff_frac BETWEEN 0 AND 1
-- reads: compared_jobs, compared_totals, gpu_activities, host_calls, is_compared, is_of_side,
--   totals_of_sides, without_line
CREATE OR REPLACE MACRO op_diff_v1(
    base_job VARCHAR := NULL,  -- job of the base [default: the first by name]
    test_job VARCHAR := NULL,  -- job of the test [default: the last by name]
    base_ranks INTEGER[] := NULL,  -- ranks of the base [default: all]
    test_ranks INTEGER[] := NULL,  -- ranks of the test [default: all]
    base_steps BIGINT[] := NULL,  -- steps of the base [default: the whole trace]
    test_steps BIGINT[] := NULL,  -- steps of the test [default: the whole trace]
    by_shape BOOLEAN := false,  -- one row per name and shapes instead of per name
    only_cats VARCHAR[] := NULL  -- categories of the trace to count, such as cpu_op [default: all]
) AS TABLE
WITH
jobs AS (
    FROM compared_jobs(base_job, test_job)
),
calls AS MATERIALIZED (
    SELECT
        o.job,
        o.rank,
        o.event_id,
        o.parent_id,
        o.cat,
        CASE WHEN o.cat = 'python_function' THEN without_line(o.name) ELSE o.name END AS name,
        CASE WHEN by_shape THEN o.input_dims END AS input_dims,
        o.dur_ns,
        -- A call that another call crosses leaves the stack when the other call begins.
        coalesce(o.cut_ns, o.end_ns) - o.start_ns AS on_stack_ns,
        o.step IS NOT NULL AS is_in_step,
        is_of_side(o.job, o.rank, o.step, j.base, base_ranks, base_steps) AS is_base,
        is_of_side(o.job, o.rank, o.step, j.test, test_ranks, test_steps) AS is_test
    FROM host_calls AS o
    CROSS JOIN jobs AS j
    WHERE is_compared(o.job, j.base, j.test, base_job, test_job)
),
called AS (
    SELECT job, rank, parent_id, sum(on_stack_ns)::BIGINT AS called_ns
    FROM calls
    WHERE parent_id IS NOT NULL
    GROUP BY job, rank, parent_id
),
launched AS (
    SELECT a.job, a.rank, a.op_id, count(*) AS kernel_count, sum(a.dur_ns)::BIGINT AS kernel_ns
    FROM gpu_activities AS a
    CROSS JOIN jobs AS j
    WHERE is_compared(a.job, j.base, j.test, base_job, test_job) AND a.op_id IS NOT NULL
    GROUP BY a.job, a.rank, a.op_id
),
measured AS (
    SELECT
        c.cat,
        c.name,
        c.input_dims,
        c.dur_ns,
        c.dur_ns - coalesce(called.called_ns, 0) AS self_ns,
        launched.kernel_count,
        launched.kernel_ns,
        c.is_in_step,
        c.is_base,
        c.is_test
    FROM calls AS c
    LEFT JOIN called
        ON called.job = c.job AND called.rank = c.rank AND called.parent_id = c.event_id
    LEFT JOIN launched
        ON launched.job = c.job AND launched.rank = c.rank AND launched.op_id = c.event_id
    WHERE (c.is_base OR c.is_test) AND (only_cats IS NULL OR list_contains(only_cats, c.cat))
),
totals AS (
    SELECT
        name,
        input_dims,
        min(cat) AS cat,
        totals_of_sides(dur_ns, is_base, is_test, is_in_step) AS sides,
        coalesce(sum(self_ns) FILTER (is_base), 0)::BIGINT AS base_self_ns,
        coalesce(sum(self_ns) FILTER (is_test), 0)::BIGINT AS test_self_ns,
        coalesce(sum(kernel_count) FILTER (is_base), 0)::BIGINT AS base_self_kernel_count,
        coalesce(sum(kernel_count) FILTER (is_test), 0)::BIGINT AS test_self_kernel_count,
        coalesce(sum(kernel_ns) FILTER (is_base), 0)::BIGINT AS base_self_kernel_ns,
        coalesce(sum(kernel_ns) FILTER (is_test), 0)::BIGINT AS test_self_kernel_ns
    FROM measured
    GROUP BY name, input_dims
)
SELECT
    name,
    input_dims,
    cat,
    base_count,
    test_count,
    diff_count,
    base_total_ns,
    test_total_ns,
    diff_total_ns,
    base_mean_ns,
    test_mean_ns,
    diff_mean_ns,
    base_self_ns,
    test_self_ns,
    test_self_ns - base_self_ns AS diff_self_ns,
    base_self_kernel_count,
    test_self_kernel_count,
    test_self_kernel_count - base_self_kernel_count AS diff_self_kernel_count,
    base_self_kernel_ns,
    test_self_kernel_ns,
    test_self_kernel_ns - base_self_kernel_ns AS diff_self_kernel_ns,
    base_per_step_ns,
    test_per_step_ns,
    diff_per_step_ns,
    diff_frac,
    change
FROM compared_totals(
    totals, base_job, test_job, base_ranks, test_ranks, base_steps, test_steps
)
ORDER BY abs(diff_per_step_ns) DESC, abs(diff_total_ns) DESC, name, input_dims;
