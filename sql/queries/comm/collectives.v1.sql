-- The collectives of a job: who took part, what they moved, how fast, and who came last.
--
-- A row is one all-reduce, all-gather, ... of which the kernels of two ranks or more are in the
-- archive. They are paired by the `Comms Id` of the profiler, else by process group and `Seq`, else
-- by process group and order (`paired_by`), which is sure where each rank's window is whole or
-- lacks one stretch; what did not pair cleanly is in collective_audit, and sends and receives are
-- in point_to_point.
--
--     rank 0    [====================)
--     rank 1         [===============)
--     rank 2                 [=======)    the last: it waited for nobody
--               start_skew_ns transfer_ns
--
-- All members leave a collective together, so that durations tell who came when, whatever their
-- clocks say: the shortest is the transfer, the others waited before it. Of broadcast, reduce,
-- gather and scatter, where a root may be done early, clocks have to tell: NULL where they cannot
-- be aligned.
--
-- Bandwidth is by the transfer, so what nccl-tests would measure; bytes and factors are in
-- collective_bandwidth. A collective that is not whole, with member_count below group_size, may
-- have waited for a rank that is not in the archive.
--
-- Members are paired, waits measured, over all ranks, whichever are selected.
--
-- HTA has no counterpart.
--
-- since: 0.1
-- grain: job, collective_id
-- returns:
--   job                 VARCHAR    -      run of a program
--   collective_id       BIGINT     -      number of the collective, by when its first kernel began
--   name                VARCHAR    -      as PyTorch names it, such as _allgather_base
--   process_group       VARCHAR    -      name of its group, which several groups may share
--   process_group_desc  VARCHAR    -      what the group is for, where the program said it
--   group_id            BIGINT     -      number of its group in process_groups
--   group_size          BIGINT     -      ranks in the group
--   member_count        BIGINT     count  kernels of it in the archive
--   step                BIGINT     -      in which it was launched; NULL outside steps
--   dtype               VARCHAR    -      number format, as PyTorch names it
--   bytes               BIGINT     bytes  the message: larger one of a rank's input and output; of
--                                         an all-to-all with splits what leaves or enters a rank
--   start_ns            BIGINT     ns     first member's start, on the reference rank's clock; NULL
--                                         where no member's clock is known
--   end_ns              BIGINT     ns     last member's end, on that clock
--   start_skew_ns       BIGINT     ns     from the first member's start to the last one's
--   end_skew_ns         BIGINT     ns     from the first member's end to the last one's, on aligned
--                                         clocks: what clocks and profiler leave uncertain
--   transfer_ns         BIGINT     ns     shortest duration: all had come
--   wait_ns             BIGINT     ns     sum of the members' waits
--   algbw_gbps          DOUBLE     GB/s   bytes / transfer_ns
--   busbw_gbps          DOUBLE     GB/s   of the busiest link: algbw_gbps, times a factor
--   last_rank           INTEGER    -      the member that came last; of several one, as if drawn
--   paired_by           VARCHAR    -      comms_id, seq or order
--   seq                 BIGINT     -      the profiler's counter of the group
--   comms_id            UBIGINT    -      the profiler's id
-- check: member_count >= 2
-- check: member_count <= group_size OR paired_by <> 'order'
-- check: transfer_ns >= 0 AND start_skew_ns >= 0 AND end_skew_ns >= 0
-- check: wait_ns BETWEEN 0 AND start_skew_ns * (member_count - 1)
--   OR name NOT IN ('allreduce', '_allgather_base', '_reduce_scatter_base')
-- check: busbw_gbps <= 2 * algbw_gbps
-- check: paired_by IN ('comms_id', 'seq', 'order')
-- check: paired_by <> 'comms_id' OR comms_id IS NOT NULL
-- reads: aligned_clocks, groups_of_jobs, last_arrivals, measured_collectives, paired_members
CREATE OR REPLACE MACRO collectives_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to report [default: all]
    only_ranks INTEGER[] := NULL,  -- report those with one of these ranks [default: all]
    only_steps BIGINT[] := NULL  -- report those of these steps [default: all]
) AS TABLE
WITH
members AS MATERIALIZED (
    FROM paired_members(only_jobs)
    WHERE NOT is_message
),
groups AS MATERIALIZED (
    FROM groups_of_jobs(only_jobs)
),
clocks AS (
    FROM aligned_clocks(members)
),
arrivals AS (
    FROM last_arrivals(members, clocks)
),
measured AS (
    FROM measured_collectives(members, groups, only_jobs, only_ranks, only_steps)
)
SELECT
    m.job,
    m.collective_id,
    m.name,
    g.process_group,
    g.process_group_desc,
    g.group_number AS group_id,
    m.member_total AS group_size,
    m.member_count,
    m.step,
    m.dtype,
    m.bytes,
    a.start_ns,
    a.end_ns,
    a.start_skew_ns,
    a.end_skew_ns,
    m.transfer_ns,
    a.wait_ns,
    m.bytes / nullif(m.transfer_ns, 0) AS algbw_gbps,
    m.bytes * m.bus_factor / nullif(m.transfer_ns, 0) AS busbw_gbps,
    a.last_rank,
    m.paired_by,
    m.seq,
    m.comms_id
FROM measured AS m
JOIN arrivals AS a ON a.job = m.job AND a.collective_id = m.collective_id
JOIN groups AS g ON g.group_id = m.group_id
ORDER BY m.job, m.collective_id;
