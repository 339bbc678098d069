-- How the devices' time splits otherwise in one job than in another: computing, exposed, idle.
--
-- The base is what was before, the test what is asked about: jobs, or ranks or steps of one job or
-- of two. Where no job is named, the base is the first by name, the test the last.
--
-- The rows are the columns of temporal_breakdown, which says what they mean, summed over devices:
-- idle, compute, exposed_communication and exposed_memory add up to span; busy is all but idle,
-- non_compute the two that are exposed; communication and memory count also what hides behind
-- something else.
--
-- Totals are over all that was chosen; figures per step are totals by the number of steps of ranks,
-- of a side without steps by its ranks. `change` is of the total.
--
-- HTA has no counterpart.
--
-- since: 0.1
-- grain: name
-- returns:
--   name              VARCHAR  -      what the time is spent with
--   base_count        BIGINT   count  devices of ranks in the base
--   test_count        BIGINT   count  likewise
--   diff_count        BIGINT   count  test - base, as all differences
--   base_total_ns     BIGINT   ns     sum over the devices
--   test_total_ns     BIGINT   ns     likewise
--   diff_total_ns     BIGINT   ns     likewise
--   base_mean_ns      BIGINT   ns     of a device; NULL: none
--   test_mean_ns      BIGINT   ns     likewise
--   diff_mean_ns      BIGINT   ns     NULL where either has none
--   base_frac         DOUBLE   0-1    share of the span
--   test_frac         DOUBLE   0-1    likewise
--   base_per_step_ns  BIGINT   ns     sum / steps of ranks
--   test_per_step_ns  BIGINT   ns     likewise
--   diff_per_step_ns  BIGINT   ns     likewise
--   diff_frac         DOUBLE   0-1    of the four that add up to span: |diff_per_step_ns| / sum of
--                                     these; else NULL
--   change            VARCHAR  -      of the total: added, deleted, increased, decreased, unchanged
-- check: base_count > 0 OR (test_count > 0 AND base_total_ns = 0)
-- check: diff_count = test_count - base_count AND diff_total_ns = test_total_ns - base_total_ns
-- check: base_frac BETWEEN 0 AND 1 AND test_frac BETWEEN 0 AND 1
-- check: diff_frac BETWEEN 0 AND 1
-- check: (change = 'unchanged') = (diff_total_ns = 0)
-- reads: busy_times, change_of_count, compared_jobs, compared_totals, gpu_activities,
--   is_compared, is_of_side, totals_of_sides
CREATE OR REPLACE MACRO temporal_diff_v1(
    base_job VARCHAR := NULL,  -- job that was before [default: the first by name]
    test_job VARCHAR := NULL,  -- job to compare with it [default: the last by name]
    base_ranks INTEGER[] := NULL,  -- ranks of the base [default: all]
    test_ranks INTEGER[] := NULL,  -- ranks of the test [default: all]
    base_steps BIGINT[] := NULL,  -- steps of the base [default: all, also outside steps]
    test_steps BIGINT[] := NULL  -- steps of the test [default: all, also outside steps]
) AS TABLE
WITH
activities AS (
    SELECT
        a.job,
        a.rank,
        a.device,
        a.kind,
        a.start_ns,
        a.end_ns,
        is_of_side(a.job, a.rank, a.step, j.base, base_ranks, base_steps) AS is_base,
        is_of_side(a.job, a.rank, a.step, j.test, test_ranks, test_steps) AS is_test
    FROM gpu_activities AS a
    CROSS JOIN compared_jobs(base_job, test_job) AS j
    WHERE is_compared(a.job, j.base, j.test, base_job, test_job)
),
-- busy_times keeps what differs in `step` apart: here the sides, 0 and 1.
of_sides AS (
    SELECT job, rank, device, 0::BIGINT AS step, kind, start_ns, end_ns
    FROM activities
    WHERE is_base
    UNION ALL
    SELECT job, rank, device, 1::BIGINT AS step, kind, start_ns, end_ns
    FROM activities
    WHERE is_test
),
of_devices AS (
    SELECT
        step = 1 AS is_test,
        span_ns AS span,
        busy_ns AS busy,
        span_ns - busy_ns AS idle,
        computation_ns AS compute,
        busy_ns - computation_ns AS non_compute,
        communication_ns AS communication,
        memory_ns AS memory,
        computation_or_communication_ns - computation_ns AS exposed_communication,
        busy_ns - computation_or_communication_ns AS exposed_memory
    FROM busy_times(of_sides)
),
times AS (
    UNPIVOT of_devices
    ON span, busy, idle, compute, non_compute, communication, memory, exposed_communication,
        exposed_memory
    INTO NAME name VALUE time_ns
),
totals AS (
    SELECT
        name,
        totals_of_sides(time_ns, NOT is_test, is_test, true) AS sides
    FROM times
    GROUP BY name
),
compared AS (
    SELECT
        * EXCLUDE (diff_frac, change),
        max(base_total_ns) FILTER (name = 'span') OVER () AS base_span_ns,
        max(test_total_ns) FILTER (name = 'span') OVER () AS test_span_ns,
        name IN ('idle', 'compute', 'exposed_communication', 'exposed_memory') AS is_part
    FROM compared_totals(
        totals, base_job, test_job, base_ranks, test_ranks, base_steps, test_steps
    )
)
SELECT
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
    base_total_ns / nullif(base_span_ns, 0) AS base_frac,
    test_total_ns / nullif(test_span_ns, 0) AS test_frac,
    base_per_step_ns,
    test_per_step_ns,
    diff_per_step_ns,
    CASE WHEN is_part THEN abs(diff_per_step_ns) END
        / nullif(sum(abs(diff_per_step_ns)) FILTER (is_part) OVER (), 0) AS diff_frac,
    change_of_count(base_total_ns, test_total_ns) AS change
FROM compared
ORDER BY
    list_position(
        ['span', 'busy', 'idle', 'compute', 'non_compute', 'exposed_communication',
         'exposed_memory', 'communication', 'memory'],
        name
    );
