-- Which operators and calls of the host run more or less often or long in one job than in another.
--
-- The base is what was before, the test what is asked about: jobs, or ranks or steps of one job or
-- of two. Where no job is named, the base is the first by name, the test the last.
--
-- All that the host did counts: operators, annotations, Python functions, runtime and driver calls.
-- `only_cats := ['cpu_op']` leaves the operators. Totals are of whole calls, with all that they
-- called; self time is without that, so that it adds up. The kernels of an operator are those that
-- it launched itself, with no operator between.
--
-- Counts and totals are over all that was chosen. Where that is not equally much, the figures per
-- step compare: the total of what began in steps by the number of steps of ranks; of a side without
-- steps the total by its ranks. `change` is of the count alone, as HTA has it. What is beyond noise
-- is in diff_causes.
--
-- With `by_shape`, calls are told apart by the shapes of their inputs, too: an operator that runs
-- on other shapes is deleted with the one and added with the other. They are NULL where the
-- profiler did not record them.
--
-- This is HTA's TraceDiff.compare_traces and ops_diff for the host, exact where its durations are
-- cut to us.
--
-- since: 0.1
-- grain: name, input_dims
-- returns:
--   name                VARCHAR  -      name of the operator or call
--   input_dims          VARCHAR  -      by_shape: sizes of its inputs, as JSON; else NULL
--   cat                 VARCHAR  -      its category in the trace; of several the first by name
--   base_count          BIGINT   count  calls in the base
--   test_count          BIGINT   count  calls in the test
--   diff_count          BIGINT   count  test - base, as all differences
--   base_total_ns       BIGINT   ns     sum of the calls' durations
--   test_total_ns       BIGINT   ns     likewise
--   diff_total_ns       BIGINT   ns     likewise
--   base_mean_ns        BIGINT   ns     of a call; NULL: none
--   test_mean_ns        BIGINT   ns     likewise
--   diff_mean_ns        BIGINT   ns     NULL where either has none
--   base_self_ns        BIGINT   ns     sum of the calls' durations without what they called
--   test_self_ns        BIGINT   ns     likewise
--   diff_self_ns        BIGINT   ns     likewise
--   base_kernel_count   BIGINT   count  GPU activities that the operators launched themselves
--   test_kernel_count   BIGINT   count  likewise
--   diff_kernel_count   BIGINT   count  likewise
--   base_kernel_ns      BIGINT   ns     sum of these activities' durations
--   test_kernel_ns      BIGINT   ns     likewise
--   diff_kernel_ns      BIGINT   ns     likewise
--   base_per_step_ns    BIGINT   ns     sum of the durations of calls in steps / steps of ranks
--   test_per_step_ns    BIGINT   ns     likewise
--   diff_per_step_ns    BIGINT   ns     likewise
--   diff_frac           DOUBLE   0-1    |diff_per_step_ns| / sum of these over all rows
--   change              VARCHAR  -      of the count: added, deleted, increased, decreased,
--                                       unchanged
-- check: base_count >= 0 AND test_count >= 0 AND base_count + test_count > 0
-- check: diff_count = test_count - base_count AND diff_total_ns = test_total_ns - base_total_ns
-- check: base_self_ns BETWEEN 0 AND base_total_ns AND test_self_ns BETWEEN 0 AND test_total_ns
-- check: (base_count = 0) = (base_mean_ns IS NULL) AND (test_count = 0) = (test_mean_ns IS NULL)
-- check: base_kernel_ns >= 0 AND test_kernel_ns >= 0
-- check: (change = 'unchanged') = (diff_count = 0)
-- check: diff_frac BETWEEN 0 AND 1
-- reads: compared_jobs, compared_totals, gpu_activities, host_ops, is_compared, is_of_side,
--   totals_of_sides
CREATE OR REPLACE MACRO op_diff_v1(
    base_job VARCHAR := NULL,  -- job that was before [default: the first by name]
    test_job VARCHAR := NULL,  -- job to compare with it [default: the last by name]
    base_ranks INTEGER[] := NULL,  -- ranks of the base [default: all]
    test_ranks INTEGER[] := NULL,  -- ranks of the test [default: all]
    base_steps BIGINT[] := NULL,  -- steps of the base [default: all, also outside steps]
    test_steps BIGINT[] := NULL,  -- steps of the test [default: all, also outside steps]
    by_shape BOOLEAN := false,  -- a row for each name and shapes, instead of each name
    only_cats VARCHAR[] := NULL  -- categories as the trace has them, such as cpu_op [default: all]
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
        o.name,
        CASE WHEN by_shape THEN o.input_dims END AS input_dims,
        o.dur_ns,
        -- Up to where another call crosses it: from there on, that one is on the stack.
        coalesce(o.cut_ns, o.end_ns) - o.start_ns AS on_stack_ns,
        o.step IS NOT NULL AS is_in_step,
        is_of_side(o.job, o.rank, o.step, j.base, base_ranks, base_steps) AS is_base,
        is_of_side(o.job, o.rank, o.step, j.test, test_ranks, test_steps) AS is_test
    FROM host_ops AS o
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
        coalesce(sum(kernel_count) FILTER (is_base), 0)::BIGINT AS base_kernel_count,
        coalesce(sum(kernel_count) FILTER (is_test), 0)::BIGINT AS test_kernel_count,
        coalesce(sum(kernel_ns) FILTER (is_base), 0)::BIGINT AS base_kernel_ns,
        coalesce(sum(kernel_ns) FILTER (is_test), 0)::BIGINT AS test_kernel_ns
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
    base_kernel_count,
    test_kernel_count,
    test_kernel_count - base_kernel_count AS diff_kernel_count,
    base_kernel_ns,
    test_kernel_ns,
    test_kernel_ns - base_kernel_ns AS diff_kernel_ns,
    base_per_step_ns,
    test_per_step_ns,
    diff_per_step_ns,
    diff_frac,
    change
FROM compared_totals(
    totals, base_job, test_job, base_ranks, test_ranks, base_steps, test_steps
)
ORDER BY abs(diff_per_step_ns) DESC, abs(diff_total_ns) DESC, name, input_dims;
