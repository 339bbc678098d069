-- Which nn.Modules of the model take longer or shorter in one job than in another.
--
-- The base is what was before, the test what is asked about: jobs, or ranks or steps of one job or
-- of two. Where no job is named, the base is the first by name, the test the last.
--
-- Modules are compared by their place in the model, as module_stats names it, which also says whose
-- kernels are a module's: its own and those of all modules that run in it, but for those named
-- self. The row without a module has what belongs to none.
--
-- Counts and totals are over all that was chosen; figures per step are of the kernels, by the
-- number of steps of ranks, of a side without steps by its ranks. `change` is of the count of
-- calls.
--
-- HTA has no counterpart.
--
-- since: 0.1
-- grain: module
-- returns:
--   module                   VARCHAR  -      instances from the outermost in, joined by /
--   base_count               BIGINT   count  calls in the base
--   test_count               BIGINT   count  likewise
--   diff_count               BIGINT   count  test - base, as all differences
--   base_total_ns            BIGINT   ns     sum of the calls' durations on the host
--   test_total_ns            BIGINT   ns     likewise
--   diff_total_ns            BIGINT   ns     likewise
--   base_mean_ns             BIGINT   ns     of a call; NULL: none
--   test_mean_ns             BIGINT   ns     likewise
--   diff_mean_ns             BIGINT   ns     NULL where either has none
--   base_forward_kernel_ns   BIGINT   ns     sum of the durations of activities launched forward
--   test_forward_kernel_ns   BIGINT   ns     likewise
--   diff_forward_kernel_ns   BIGINT   ns     likewise
--   base_backward_kernel_ns  BIGINT   ns     the same, backward
--   test_backward_kernel_ns  BIGINT   ns     likewise
--   diff_backward_kernel_ns  BIGINT   ns     likewise
--   base_self_kernel_ns      BIGINT   ns     of both, of activities of no module inside
--   test_self_kernel_ns      BIGINT   ns     likewise
--   diff_self_kernel_ns      BIGINT   ns     likewise
--   base_per_step_ns         BIGINT   ns     forward and backward kernels / steps of ranks
--   test_per_step_ns         BIGINT   ns     likewise
--   diff_per_step_ns         BIGINT   ns     likewise
--   diff_frac                DOUBLE   0-1    |diff_self_kernel_ns| / sum of these over all rows
--   change                   VARCHAR  -      of the count: added, deleted, increased, decreased,
--                                            unchanged
-- check: diff_count = test_count - base_count AND diff_total_ns = test_total_ns - base_total_ns
-- check: (base_count = 0) = (base_mean_ns IS NULL) AND (test_count = 0) = (test_mean_ns IS NULL)
-- check: base_self_kernel_ns BETWEEN 0 AND base_forward_kernel_ns + base_backward_kernel_ns
-- check: test_self_kernel_ns BETWEEN 0 AND test_forward_kernel_ns + test_backward_kernel_ns
-- check: (change = 'unchanged') = (diff_count = 0)
-- check: diff_frac BETWEEN 0 AND 1
-- reads: compared_sides, compared_totals, module_totals, named_jobs, traces
CREATE OR REPLACE MACRO module_diff_v1(
    base_job VARCHAR := NULL,  -- job that was before [default: the first by name]
    test_job VARCHAR := NULL,  -- job to compare with it [default: the last by name]
    base_ranks INTEGER[] := NULL,  -- ranks of the base [default: all]
    test_ranks INTEGER[] := NULL,  -- ranks of the test [default: all]
    base_steps BIGINT[] := NULL,  -- steps of the base [default: all, also outside steps]
    test_steps BIGINT[] := NULL  -- steps of the test [default: all, also outside steps]
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
-- Compared step by step are the kernels.
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
