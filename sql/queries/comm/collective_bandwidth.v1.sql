-- How fast the collectives of each process group are, by name and size of their message.
--
-- Time is that of the transfer, without waiting: the shortest duration of the members. Bandwidth is
-- bytes * factor / time, bytes counted in 1e9 (GB), so that it can be held against nccl-tests and a
-- link's speed. With n ranks in the group, message and factor are
--
--     all-reduce                      input                     2 (n - 1) / n
--     all-gather                      output                    (n - 1) / n
--     reduce-scatter                  input                     (n - 1) / n
--     all-to-all, gather, scatter     larger of input, output   (n - 1) / n
--     all-to-all that tells splits    what leaves or enters     1, the busiest rank counts
--     broadcast, reduce               input                     1
--     send and receive, named `send`  the message               1
--
-- The factors are rows of the view bus_factors, sizes of elements those of dtype_sizes, each with
-- its source. Rings are meant: switches that reduce may go beyond a link's speed.
--
-- Several collectives count by the sum of what they moved over the sum of their time, never by the
-- mean of bandwidths. Groups that share a name count together. Collectives of which only one rank
-- is in the archive are left out. What was paired is measured over all ranks, whichever are
-- selected.
--
-- HTA has no counterpart.
--
-- since: 0.1
-- grain: job, process_group, name, bytes
-- returns:
--   job                 VARCHAR  -      run of a program
--   process_group       VARCHAR  -      name of the group
--   name                VARCHAR  -      collective, as PyTorch names it; send for messages
--   bytes               BIGINT   bytes  the message; NULL for a barrier, and where the number
--                                       format or the number of elements is not known
--   process_group_desc  VARCHAR  -      what the group is for, where the program said it
--   dtype               VARCHAR  -      number format; of several the first by name
--   group_size          BIGINT   -      ranks in the group; of several groups in the largest
--   count               BIGINT   count  collectives
--   transfer_ns         BIGINT   ns     sum of their transfers
--   algbw_gbps          DOUBLE   GB/s   sum of bytes / sum of transfers
--   busbw_gbps          DOUBLE   GB/s   sum of bytes * factor / sum of transfers
--   p01_busbw_gbps      DOUBLE   GB/s   percentiles of the single ones
--   p50_busbw_gbps      DOUBLE   GB/s   -
--   p99_busbw_gbps      DOUBLE   GB/s   -
-- check: count > 0 AND transfer_ns >= 0
-- check: bytes IS NOT NULL OR busbw_gbps IS NULL
-- check: p01_busbw_gbps <= p50_busbw_gbps AND p50_busbw_gbps <= p99_busbw_gbps
-- check: busbw_gbps BETWEEN 0 AND 2 * algbw_gbps
-- reads: groups_of_jobs, measured_collectives, paired_members
CREATE OR REPLACE MACRO collective_bandwidth_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure [default: all]
    only_ranks INTEGER[] := NULL,  -- measure collectives with one of these ranks [default: all]
    only_steps BIGINT[] := NULL  -- measure those of these steps [default: all]
) AS TABLE
WITH
members AS MATERIALIZED (
    FROM paired_members(only_jobs)
    WHERE member_count > 1
),
groups AS MATERIALIZED (
    FROM groups_of_jobs(only_jobs)
),
measured AS (
    FROM measured_collectives(members, groups, only_jobs, only_ranks, only_steps)
),
named AS (
    SELECT
        m.*,
        g.process_group,
        g.process_group_desc,
        m.bytes * m.bus_factor AS bus_bytes
    FROM measured AS m
    JOIN groups AS g ON g.group_id = m.group_id
)
SELECT
    job,
    process_group,
    name,
    bytes,
    min(process_group_desc) AS process_group_desc,
    min(dtype) AS dtype,
    max(member_total) AS group_size,
    count(*) AS count,
    sum(transfer_ns)::BIGINT AS transfer_ns,
    sum(bytes) / nullif(sum(transfer_ns), 0) AS algbw_gbps,
    -- Of all of them or not at all: some may not tell their splits whole.
    CASE WHEN count(bus_bytes) = count(*) THEN sum(bus_bytes) END / nullif(sum(transfer_ns), 0)
        AS busbw_gbps,
    quantile_cont(bus_bytes / nullif(transfer_ns, 0), 0.01) AS p01_busbw_gbps,
    quantile_cont(bus_bytes / nullif(transfer_ns, 0), 0.5) AS p50_busbw_gbps,
    quantile_cont(bus_bytes / nullif(transfer_ns, 0), 0.99) AS p99_busbw_gbps
FROM named
GROUP BY job, process_group, name, bytes
ORDER BY job, process_group, name, bytes;
