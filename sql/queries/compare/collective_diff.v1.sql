-- Which collectives and messages are more or fewer, slower or waited for longer in one job.
--
-- The base is what was before, the test what is asked about: jobs, or ranks or steps of one job or
-- of two. Where no job is named, the base is the first by name, the test the last.
--
-- A collective's kernel lasts while it waits for the other ranks and while it transfers. Where more
-- ranks of a job are in the archive, the two are told apart as in collective_members: the transfer
-- is the shortest member's duration, the rest of the others' is waiting, whatever the clocks say.
-- Members are paired over all ranks of the two jobs, whichever are chosen.
--
-- Counts and totals are over all that was chosen; figures per step compare where that is not
-- equally much: what was launched in steps by the number of steps of ranks; of a side without steps
-- the total by its ranks. `change` is of the count.
--
-- HTA has no counterpart but compare_traces, which knows the kernels by their names alone.
--
-- since: 0.1
-- grain: name, dtype, bytes, group_size
-- returns:
--   name                   VARCHAR  -      collective or message, as PyTorch names it
--   dtype                  VARCHAR  -      number format
--   bytes                  BIGINT   bytes  larger one of a rank's input and output; NULL where the
--                                          format or the number of elements is not known
--   group_size             BIGINT   -      ranks in the group
--   base_count             BIGINT   count  kernels in the base
--   test_count             BIGINT   count  likewise
--   diff_count             BIGINT   count  test - base, as all differences
--   base_total_ns          BIGINT   ns     sum of their durations, waiting and all
--   test_total_ns          BIGINT   ns     likewise
--   diff_total_ns          BIGINT   ns     likewise
--   base_mean_ns           BIGINT   ns     of a kernel; NULL: none
--   test_mean_ns           BIGINT   ns     likewise
--   diff_mean_ns           BIGINT   ns     NULL where either has none
--   base_mean_transfer_ns  BIGINT   ns     of a collective; NULL: none was paired
--   test_mean_transfer_ns  BIGINT   ns     likewise
--   diff_mean_transfer_ns  BIGINT   ns     likewise
--   base_wait_ns           BIGINT   ns     sum of durations past the transfer; NULL: none paired
--   test_wait_ns           BIGINT   ns     likewise
--   diff_wait_ns           BIGINT   ns     likewise
--   base_per_step_ns       BIGINT   ns     sum of the durations of those in steps / steps of ranks
--   test_per_step_ns       BIGINT   ns     likewise
--   diff_per_step_ns       BIGINT   ns     likewise
--   diff_frac              DOUBLE   0-1    |diff_per_step_ns| / sum of these over all rows
--   change                 VARCHAR  -      of the count: added, deleted, increased, decreased,
--                                          unchanged
-- check: base_count >= 0 AND test_count >= 0 AND base_count + test_count > 0
-- check: diff_count = test_count - base_count AND diff_total_ns = test_total_ns - base_total_ns
-- check: base_wait_ns BETWEEN 0 AND base_total_ns AND test_wait_ns BETWEEN 0 AND test_total_ns
-- check: (change = 'unchanged') = (diff_count = 0)
-- check: diff_frac BETWEEN 0 AND 1
-- reads: compared_job_names, compared_jobs, compared_totals, dtype_sizes, is_of_side,
--   paired_members, totals_of_sides
CREATE OR REPLACE MACRO collective_diff_v1(
    base_job VARCHAR := NULL,  -- job that was before [default: the first by name]
    test_job VARCHAR := NULL,  -- job to compare with it [default: the last by name]
    base_ranks INTEGER[] := NULL,  -- ranks of the base [default: all]
    test_ranks INTEGER[] := NULL,  -- ranks of the test [default: all]
    base_steps BIGINT[] := NULL,  -- steps of the base [default: all, also outside steps]
    test_steps BIGINT[] := NULL  -- steps of the test [default: all, also outside steps]
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
