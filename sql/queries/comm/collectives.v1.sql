-- Collectives of each job: members, bytes, bandwidth, waits and last rank.
--
-- A row is one all-reduce, all-gather, ... whose kernels on two or more ranks are in the archive.
-- collective_audit lists calls that could not be paired cleanly. Sends and receives are in
-- point_to_point. The column paired_by says how the kernels were paired:
--
--   * comms_id: by the profiler's `Comms Id`, if all calls of the process group have one.
--   * seq: by the profiler's `Seq`, if not all calls of the group have a `Comms Id` but all have a
--     `Seq`.
--   * order: by the order of the group's calls, in all other cases. This pairing is reliable if
--     no rank lacks calls, or if each rank lacks only calls that follow one another.
--
-- All members of an all-reduce, all-gather, reduce-scatter, all-to-all or barrier leave it
-- together:
--
--     rank 0    [====================)
--     rank 1         [===============)
--     rank 2                 [=======)    came last and did not wait
--               start_skew_ns transfer_ns
--
-- Durations therefore show which rank came when, even if clocks are wrong. The shortest duration is
-- the transfer time, and the other members waited before the transfer. If several members have the
-- shortest duration, a hash of collective and rank picks the last rank.
--
-- In a broadcast, reduce, gather or scatter, the root may finish early. For these collectives,
-- start_skew_ns and last_rank are measured with aligned clocks, and are NULL if not all members'
-- clocks are aligned. If several members have the latest start, the one with the lowest rank is the
-- last. If the operation of a collective is unknown, the query assumes that its root may finish
-- early.
--
-- Bandwidth is bytes / transfer_ns, so it can be compared with nccl-tests. The help of
-- collective_bandwidth describes bytes and factors. If member_count is below group_size, the
-- members may have waited for a rank that is not in the archive.
--
-- Pairing and waits always use all ranks of the job. only_ranks chooses which rows you see: the
-- collectives in which at least one of these ranks takes part.
--
-- since: 0.1
-- grain: job, collective_id
-- needs: collectives, ranks
-- returns:
--   job                 VARCHAR    -      run of a program
--   collective_id       BIGINT     -      number of the collective. Collectives are numbered in the
--                                         order in which their first kernel starts
--   name                VARCHAR    -      collective, as PyTorch names it, such as _allgather_base
--   process_group       VARCHAR    -      name of the process group, which several groups may share
--   process_group_desc  VARCHAR    -      purpose of the group, if the program gives it
--   group_id            BIGINT     -      number of the group in process_groups
--   group_size          BIGINT     -      ranks in the group
--   member_count        BIGINT     count  kernels of the collective in the archive, one per rank
--   step                BIGINT     -      lowest step in which a member launched its kernel; NULL
--                                         outside steps
--   dtype               VARCHAR    -      data type, as PyTorch names it
--   bytes               BIGINT     bytes  size of the message: the larger of a rank's input and
--                                         output; for an all-to-all with splits, the largest number
--                                         of bytes that a rank sends or receives; NULL for a
--                                         barrier, and if the data type or the number of elements
--                                         is not known
--   start_ns            BIGINT     ns     first member's start on the reference rank's clock; NULL
--                                         if no member's clock is aligned
--   end_ns              BIGINT     ns     last member's end on the reference rank's clock; NULL if
--                                         no member's clock is aligned
--   start_skew_ns       BIGINT     ns     time from the first start of a member to the last start
--   end_skew_ns         BIGINT     ns     time from the first end of a member to the last end, on
--                                         aligned clocks; it shows how uncertain clocks and
--                                         profiler are; NULL if not all members' clocks are aligned
--   transfer_ns         BIGINT     ns     shortest duration of a member: the time after all members
--                                         have come
--   wait_ns             BIGINT     ns     sum of the members' waits
--   algbw_gbps          DOUBLE     GB/s   bytes / transfer_ns
--   busbw_gbps          DOUBLE     GB/s   bandwidth of the busiest link: algbw_gbps * factor; NULL
--                                         if the factor is not known
--   last_rank           INTEGER    -      rank that came last; NULL if this needs aligned clocks
--                                         and a clock is not aligned
--   paired_by           VARCHAR    -      comms_id, seq or order
--   seq                 BIGINT     -      the profiler's counter in the group
--   comms_id            UBIGINT    -      the profiler's id of the collective
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
    only_ranks INTEGER[] := NULL,  -- ranks whose collectives are reported [default: all]
    only_steps BIGINT[] := NULL  -- steps whose collectives are reported [default: all]
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
