-- Idle, compute and exposed time of devices, compared between two jobs.
--
-- The query compares two sides: the base (before) and the test (after). A side is a job, or some
-- ranks or steps of a job. Both sides can be of the same job. By default, the base is the first job
-- by name, and the test is the last job by name.
--
-- A row is one metric, summed over devices. temporal_breakdown explains the metrics:
--
--     span                   from the first activity's start to the last
--                            activity's end
--     busy                   time with at least one activity
--     idle                   time in the span without any activity
--     compute                time with computation
--     non_compute            busy time without computation
--     exposed_communication  time with communication but no computation
--     exposed_memory         time with copies or memsets and nothing else
--     communication          time with communication, exposed or hidden
--     memory                 time with copies or memsets, exposed or hidden
--
--     span = idle + compute + exposed_communication + exposed_memory
--     non_compute = exposed_communication + exposed_memory
--
-- Totals cover everything that is selected, inside and outside steps. Columns with `per_step` in
-- their names are means per step and rank: the totals, divided by the number of steps. For example,
-- 10 steps on each of 4 ranks are 40 steps. For a side without steps, the totals are divided by the
-- number of ranks. `change` compares the totals.
--
-- since: 0.1
-- grain: name
-- needs: gpu_activities
-- returns:
--   name              VARCHAR  -      metric, as above
--   base_count        BIGINT   count  devices with activities in the base, over all ranks
--   test_count        BIGINT   count  devices with activities in the test, over all ranks
--   diff_count        BIGINT   count  test_count - base_count
--   base_total_ns     BIGINT   ns     sum over the devices of the base
--   test_total_ns     BIGINT   ns     sum over the devices of the test
--   diff_total_ns     BIGINT   ns     test_total_ns - base_total_ns
--   base_mean_ns      BIGINT   ns     mean per device of the base; NULL if base_count is 0
--   test_mean_ns      BIGINT   ns     mean per device of the test; NULL if test_count is 0
--   diff_mean_ns      BIGINT   ns     test_mean_ns - base_mean_ns; NULL if either is NULL
--   base_frac         DOUBLE   0-1    base_total_ns of this metric / base_total_ns of `span`
--   test_frac         DOUBLE   0-1    test_total_ns of this metric / test_total_ns of `span`
--   base_per_step_ns  BIGINT   ns     base_total_ns, per step and rank
--   test_per_step_ns  BIGINT   ns     test_total_ns, per step and rank
--   diff_per_step_ns  BIGINT   ns     test_per_step_ns - base_per_step_ns
--   diff_frac         DOUBLE   0-1    |diff_per_step_ns| / sum of |diff_per_step_ns| over the four
--                                     metrics that add up to span; NULL for other metrics, or if
--                                     the sum is 0
--   change            VARCHAR  -      change of the total: added, deleted, increased, decreased,
--                                     unchanged
-- check: base_count > 0 OR (test_count > 0 AND base_total_ns = 0)
-- check: diff_count = test_count - base_count AND diff_total_ns = test_total_ns - base_total_ns
-- check: base_frac BETWEEN 0 AND 1 AND test_frac BETWEEN 0 AND 1
-- check: diff_frac BETWEEN 0 AND 1
-- check: (change = 'unchanged') = (diff_total_ns = 0)
-- reads: busy_times, change_of_count, compared_jobs, compared_totals, gpu_activities,
--   is_compared, is_of_side, totals_of_sides
CREATE OR REPLACE MACRO temporal_diff_v1(
    base_job VARCHAR := NULL,  -- job of the base [default: the first by name]
    test_job VARCHAR := NULL,  -- job of the test [default: the last by name]
    base_ranks INTEGER[] := NULL,  -- ranks of the base [default: all]
    test_ranks INTEGER[] := NULL,  -- ranks of the test [default: all]
    base_steps BIGINT[] := NULL,  -- steps of the base [default: the whole trace]
    test_steps BIGINT[] := NULL  -- steps of the test [default: the whole trace]
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
-- busy_times has one row per `step`. Here `step` is the number of the side: 0 base, 1 test.
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
