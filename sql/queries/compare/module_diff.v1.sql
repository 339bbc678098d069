-- Host and GPU time of each nn.Module, compared between two jobs.
--
-- The query compares two sides: the base (before) and the test (after). A side is a job, or some
-- ranks or steps of a job. Both sides can be of the same job. By default, the base is the first job
-- by name, and the test is the last job by name.
--
-- Modules are compared by their place in the model. module_stats explains these places and which
-- GPU activities belong to a module. A module's kernel time includes the activities of all modules
-- that run in it. Only columns with `self` in their names leave out these inner modules. The row
-- without a module has the activities that belong to no module.
--
-- Counts and totals cover everything that is selected. If the sides differ in size, compare the
-- columns with `per_step` in their names. They are means per step and rank: the kernel time of
-- everything that is selected, inside and outside steps, divided by the number of steps. For
-- example, 10 steps on each of 4 ranks are 40 steps. For a side without steps, the kernel time is
-- divided by the number of ranks. `change` compares only the number of calls.
--
-- since: 0.1
-- grain: module
-- needs: nn_modules
-- returns:
--   module                   VARCHAR  -      the modules around the calls, outermost first, and
--                                            then the module itself, joined by /; NULL for
--                                            activities of no module
--   base_count               BIGINT   count  calls in the base
--   test_count               BIGINT   count  calls in the test
--   diff_count               BIGINT   count  test_count - base_count
--   base_total_ns            BIGINT   ns     sum of the calls' host durations in the base
--   test_total_ns            BIGINT   ns     sum of the calls' host durations in the test
--   diff_total_ns            BIGINT   ns     test_total_ns - base_total_ns
--   base_mean_ns             BIGINT   ns     mean host duration of a call in the base; NULL if
--                                            base_count is 0
--   test_mean_ns             BIGINT   ns     mean host duration of a call in the test; NULL if
--                                            test_count is 0
--   diff_mean_ns             BIGINT   ns     test_mean_ns - base_mean_ns; NULL if either is NULL
--   base_forward_kernel_ns   BIGINT   ns     sum of the durations of GPU activities launched in the
--                                            forward pass in the base
--   test_forward_kernel_ns   BIGINT   ns     sum of the durations of GPU activities launched in the
--                                            forward pass in the test
--   diff_forward_kernel_ns   BIGINT   ns     test_forward_kernel_ns - base_forward_kernel_ns
--   base_backward_kernel_ns  BIGINT   ns     sum of the durations of GPU activities launched in the
--                                            backward pass in the base
--   test_backward_kernel_ns  BIGINT   ns     sum of the durations of GPU activities launched in the
--                                            backward pass in the test
--   diff_backward_kernel_ns  BIGINT   ns     test_backward_kernel_ns - base_backward_kernel_ns
--   base_self_kernel_ns      BIGINT   ns     part of base_forward_kernel_ns +
--                                            base_backward_kernel_ns that belongs to no inner
--                                            module
--   test_self_kernel_ns      BIGINT   ns     part of test_forward_kernel_ns +
--                                            test_backward_kernel_ns that belongs to no inner
--                                            module
--   diff_self_kernel_ns      BIGINT   ns     test_self_kernel_ns - base_self_kernel_ns
--   base_per_step_ns         BIGINT   ns     base_forward_kernel_ns + base_backward_kernel_ns, per
--                                            step and rank
--   test_per_step_ns         BIGINT   ns     test_forward_kernel_ns + test_backward_kernel_ns, per
--                                            step and rank
--   diff_per_step_ns         BIGINT   ns     test_per_step_ns - base_per_step_ns
--   diff_frac                DOUBLE   0-1    |diff_self_kernel_ns| / sum of |diff_self_kernel_ns|
--                                            over all rows; NULL if the sum is 0
--   change                   VARCHAR  -      change of the count: added, deleted, increased,
--                                            decreased, unchanged
-- check: diff_count = test_count - base_count AND diff_total_ns = test_total_ns - base_total_ns
-- check: (base_count = 0) = (base_mean_ns IS NULL) AND (test_count = 0) = (test_mean_ns IS NULL)
-- check: base_self_kernel_ns BETWEEN 0 AND base_forward_kernel_ns + base_backward_kernel_ns
-- check: test_self_kernel_ns BETWEEN 0 AND test_forward_kernel_ns + test_backward_kernel_ns
-- check: (change = 'unchanged') = (diff_count = 0)
-- check: diff_frac BETWEEN 0 AND 1
-- reads: compared_sides, compared_totals, module_totals, named_jobs, traces
CREATE OR REPLACE MACRO module_diff_v1(
    base_job VARCHAR := NULL,  -- job of the base [default: the first by name]
    test_job VARCHAR := NULL,  -- job of the test [default: the last by name]
    base_ranks INTEGER[] := NULL,  -- ranks of the base [default: all]
    test_ranks INTEGER[] := NULL,  -- ranks of the test [default: all]
    base_steps BIGINT[] := NULL,  -- steps of the base [default: the whole trace]
    test_steps BIGINT[] := NULL  -- steps of the test [default: the whole trace]
) AS TABLE
WITH
ranks AS (
    SELECT DISTINCT sides.side, t.job, t.rank, sides.step_numbers
    FROM traces AS t
    JOIN compared_sides(
        base_job, test_job, base_ranks, test_ranks, base_steps, test_steps
    ) AS sides ON sides.job = t.job
    WHERE sides.ranks IS NULL OR list_contains(sides.ranks, t.rank)
),
chosen AS MATERIALIZED (
    SELECT row_number() OVER (ORDER BY side, job, rank) AS rank_number, *
    FROM ranks
),
measured AS (
    SELECT m.*, c.side
    FROM module_totals(
        chosen,
        named_jobs(base_job, test_job),
        CASE
            WHEN base_ranks IS NOT NULL AND test_ranks IS NOT NULL
            THEN list_concat(base_ranks, test_ranks)
        END
    ) AS m
    JOIN chosen AS c ON c.rank_number = m.rank_number
),
summed AS (
    SELECT
        module,
        coalesce(sum(count) FILTER (side = 'base'), 0)::BIGINT AS base_count,
        coalesce(sum(count) FILTER (side = 'test'), 0)::BIGINT AS test_count,
        coalesce(sum(host_total_ns) FILTER (side = 'base'), 0)::BIGINT AS base_host_ns,
        coalesce(sum(host_total_ns) FILTER (side = 'test'), 0)::BIGINT AS test_host_ns,
        coalesce(sum(forward_kernel_ns) FILTER (side = 'base'), 0)::BIGINT
            AS base_forward_kernel_ns,
        coalesce(sum(forward_kernel_ns) FILTER (side = 'test'), 0)::BIGINT
            AS test_forward_kernel_ns,
        coalesce(sum(backward_kernel_ns) FILTER (side = 'base'), 0)::BIGINT
            AS base_backward_kernel_ns,
        coalesce(sum(backward_kernel_ns) FILTER (side = 'test'), 0)::BIGINT
            AS test_backward_kernel_ns,
        coalesce(
            sum(forward_self_kernel_ns + backward_self_kernel_ns) FILTER (side = 'base'), 0
        )::BIGINT AS base_self_kernel_ns,
        coalesce(
            sum(forward_self_kernel_ns + backward_self_kernel_ns) FILTER (side = 'test'), 0
        )::BIGINT AS test_self_kernel_ns
    FROM measured
    GROUP BY module
),
-- The columns per step have the time of GPU activities, not host time.
totals AS (
    SELECT
        * EXCLUDE (base_count, test_count, base_host_ns, test_host_ns),
        {
            'base_count': base_count,
            'test_count': test_count,
            'base_total_ns': base_host_ns,
            'test_total_ns': test_host_ns,
            'base_in_steps_ns': base_forward_kernel_ns + base_backward_kernel_ns,
            'test_in_steps_ns': test_forward_kernel_ns + test_backward_kernel_ns,
            'base_in_trace_ns': base_forward_kernel_ns + base_backward_kernel_ns,
            'test_in_trace_ns': test_forward_kernel_ns + test_backward_kernel_ns
        } AS sides
    FROM summed
)
SELECT
    module,
    base_count,
    test_count,
    diff_count,
    base_total_ns,
    test_total_ns,
    diff_total_ns,
    base_mean_ns,
    test_mean_ns,
    diff_mean_ns,
    base_forward_kernel_ns,
    test_forward_kernel_ns,
    test_forward_kernel_ns - base_forward_kernel_ns AS diff_forward_kernel_ns,
    base_backward_kernel_ns,
    test_backward_kernel_ns,
    test_backward_kernel_ns - base_backward_kernel_ns AS diff_backward_kernel_ns,
    base_self_kernel_ns,
    test_self_kernel_ns,
    test_self_kernel_ns - base_self_kernel_ns AS diff_self_kernel_ns,
    base_per_step_ns,
    test_per_step_ns,
    diff_per_step_ns,
    abs(test_self_kernel_ns - base_self_kernel_ns)
        / nullif(sum(abs(test_self_kernel_ns - base_self_kernel_ns)) OVER (), 0) AS diff_frac,
    change
FROM compared_totals(
    totals, base_job, test_job, base_ranks, test_ranks, base_steps, test_steps
)
ORDER BY abs(diff_self_kernel_ns) DESC, abs(diff_per_step_ns) DESC, abs(diff_total_ns) DESC, module;
