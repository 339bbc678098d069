-- Count, time and waiting of collectives and messages, compared between two jobs.
--
-- The query compares two sides: the base (before) and the test (after). A side is a job, or some
-- ranks or steps of a job. Both sides can be of the same job. By default, the base is the first job
-- by name, and the test is the last job by name.
--
-- The kernel of a collective or message runs while the rank waits for other ranks and while data is
-- transferred. If at least two members are in the archive, the query separates waiting from
-- transfer, as collective_members does:
--
--     transfer time  = shortest duration of a member
--     member's wait  = member's duration - transfer time
--
-- For example, if the members take 30 us and 50 us, the transfer time is 30 us, and the second
-- member waits for 20 us. These times do not depend on the clocks of the ranks. In each
-- job, the query pairs members over all ranks, even if only some ranks are selected.
--
-- Counts and totals cover everything that is selected. If the sides differ in size, compare the
-- columns with `per_step` in their names. They are means per step and rank: the time of the kernels
-- launched in steps, divided by the number of steps. For example, 10 steps on each of 4 ranks are
-- 40 steps. For a side without steps, these columns are the total time divided by the number of
-- ranks. `change` compares only the counts.
--
-- HTA's TraceDiff.compare_traces compares these kernels by their names only.
--
-- since: 0.1
-- grain: name, dtype, bytes, group_size
-- needs: collectives
-- returns:
--   name                   VARCHAR  -      collective or message, as PyTorch names it
--   dtype                  VARCHAR  -      data type of the elements
--   bytes                  BIGINT   bytes  size of the rank's input or output, whichever is larger;
--                                          NULL if the data type or the number of elements is not
--                                          known
--   group_size             BIGINT   -      ranks in the process group
--   base_count             BIGINT   count  kernels in the base
--   test_count             BIGINT   count  kernels in the test
--   diff_count             BIGINT   count  test_count - base_count
--   base_total_ns          BIGINT   ns     sum of the durations in the base, including waits
--   test_total_ns          BIGINT   ns     sum of the durations in the test, including waits
--   diff_total_ns          BIGINT   ns     test_total_ns - base_total_ns
--   base_mean_ns           BIGINT   ns     mean duration in the base; NULL if base_count is 0
--   test_mean_ns           BIGINT   ns     mean duration in the test; NULL if test_count is 0
--   diff_mean_ns           BIGINT   ns     test_mean_ns - base_mean_ns; NULL if either is NULL
--   base_mean_transfer_ns  BIGINT   ns     mean transfer time of the paired kernels in the base;
--                                          NULL if no kernel is paired
--   test_mean_transfer_ns  BIGINT   ns     mean transfer time of the paired kernels in the test;
--                                          NULL if no kernel is paired
--   diff_mean_transfer_ns  BIGINT   ns     test_mean_transfer_ns - base_mean_transfer_ns
--   base_wait_ns           BIGINT   ns     sum of the waits of paired kernels in the base; NULL if
--                                          no kernel is paired
--   test_wait_ns           BIGINT   ns     sum of the waits of paired kernels in the test; NULL if
--                                          no kernel is paired
--   diff_wait_ns           BIGINT   ns     test_wait_ns - base_wait_ns
--   base_per_step_ns       BIGINT   ns     time of kernels in steps of the base, per step and rank
--   test_per_step_ns       BIGINT   ns     time of kernels in steps of the test, per step and rank
--   diff_per_step_ns       BIGINT   ns     test_per_step_ns - base_per_step_ns
--   diff_frac              DOUBLE   0-1    |diff_per_step_ns| / sum of |diff_per_step_ns| over all
--                                          rows; NULL if the sum is 0
--   change                 VARCHAR  -      change of the count: added, deleted, increased,
--                                          decreased, unchanged
-- check: base_count >= 0 AND test_count >= 0 AND base_count + test_count > 0
-- check: diff_count = test_count - base_count AND diff_total_ns = test_total_ns - base_total_ns
-- check: base_wait_ns BETWEEN 0 AND base_total_ns AND test_wait_ns BETWEEN 0 AND test_total_ns
-- check: (change = 'unchanged') = (diff_count = 0)
-- check: diff_frac BETWEEN 0 AND 1
-- reads: compared_job_names, compared_jobs, compared_totals, dtype_sizes, is_of_side,
--   paired_members, totals_of_sides
CREATE OR REPLACE MACRO collective_diff_v1(
    base_job VARCHAR := NULL,  -- job of the base [default: the first by name]
    test_job VARCHAR := NULL,  -- job of the test [default: the last by name]
    base_ranks INTEGER[] := NULL,  -- ranks of the base [default: all]
    test_ranks INTEGER[] := NULL,  -- ranks of the test [default: all]
    base_steps BIGINT[] := NULL,  -- steps of the base [default: the whole trace]
    test_steps BIGINT[] := NULL  -- steps of the test [default: the whole trace]
) AS TABLE
WITH
jobs AS MATERIALIZED (
    FROM compared_jobs(base_job, test_job)
),
members AS MATERIALIZED (
    FROM paired_members(compared_job_names(base_job, test_job))
),
kernels AS (
    SELECT
        a.name,
        a.dtype,
        greatest(a.in_nelems, a.out_nelems) * d.element_bytes AS bytes,
        a.member_total AS group_size,
        a.dur_ns,
        CASE WHEN a.member_count > 1 THEN a.transfer_ns END AS transfer_ns,
        a.step IS NOT NULL AS is_in_step,
        is_of_side(a.job, a.rank, a.step, j.base, base_ranks, base_steps) AS is_base,
        is_of_side(a.job, a.rank, a.step, j.test, test_ranks, test_steps) AS is_test
    FROM members AS a
    CROSS JOIN jobs AS j
    LEFT JOIN dtype_sizes AS d ON d.dtype = a.dtype
),
totals AS (
    SELECT
        name,
        dtype,
        bytes,
        group_size,
        totals_of_sides(dur_ns, is_base, is_test, is_in_step) AS sides,
        round(avg(transfer_ns) FILTER (is_base))::BIGINT AS base_mean_transfer_ns,
        round(avg(transfer_ns) FILTER (is_test))::BIGINT AS test_mean_transfer_ns,
        (sum(dur_ns - transfer_ns) FILTER (is_base))::BIGINT AS base_wait_ns,
        (sum(dur_ns - transfer_ns) FILTER (is_test))::BIGINT AS test_wait_ns
    FROM kernels
    WHERE is_base OR is_test
    GROUP BY name, dtype, bytes, group_size
)
SELECT
    name,
    dtype,
    bytes,
    group_size,
    base_count,
    test_count,
    diff_count,
    base_total_ns,
    test_total_ns,
    diff_total_ns,
    base_mean_ns,
    test_mean_ns,
    diff_mean_ns,
    base_mean_transfer_ns,
    test_mean_transfer_ns,
    test_mean_transfer_ns - base_mean_transfer_ns AS diff_mean_transfer_ns,
    base_wait_ns,
    test_wait_ns,
    test_wait_ns - base_wait_ns AS diff_wait_ns,
    base_per_step_ns,
    test_per_step_ns,
    diff_per_step_ns,
    diff_frac,
    change
FROM compared_totals(
    totals, base_job, test_job, base_ranks, test_ranks, base_steps, test_steps
)
ORDER BY
    abs(diff_per_step_ns) DESC, abs(diff_total_ns) DESC, name, dtype, bytes, group_size;
