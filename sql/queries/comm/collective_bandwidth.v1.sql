-- Bandwidth of collectives, by process group, name and message size.
--
-- The time of a collective is its transfer time without waits: the shortest duration of its
-- members. Bus bandwidth is bytes * factor / time, in 1e9 bytes (GB) per second. It can be compared
-- with nccl-tests and with the speed of a link. In a group of n ranks, bytes and factor are:
--
--     collective                   bytes                  factor
--     all-reduce                   input                  2 (n - 1) / n
--     all-gather                   output                 (n - 1) / n
--     reduce-scatter               input                  (n - 1) / n
--     all-to-all, gather, scatter  larger of input        (n - 1) / n
--                                  and output
--     all-to-all with known        largest number of      1
--     splits                       bytes that a rank
--                                  sends or receives
--     broadcast, reduce            input                  1
--     send and receive (`send`)    the message            1
--
-- The view bus_factors has the factors, and dtype_sizes has the sizes of elements, each with its
-- source. The factors assume that the ranks form a ring. If switches do the reduction, bus
-- bandwidth may exceed the speed of a link.
--
-- The bandwidth of several collectives is their total bytes divided by their total time, not the
-- mean of their bandwidths. Groups that share a name count together. The query leaves out
-- collectives with only one rank in the archive.
--
-- only_ranks chooses collectives: those in which at least one of these ranks takes part. Each
-- collective is always measured over all its ranks.
--
-- since: 0.1
-- grain: job, process_group, name, bytes
-- needs: collectives, ranks
-- returns:
--   job                 VARCHAR  -      run of a program
--   process_group       VARCHAR  -      name of the process group
--   name                VARCHAR  -      collective, as PyTorch names it; `send` for a message
--   bytes               BIGINT   bytes  size of the message; NULL for a barrier, and if the data
--                                       type or the number of elements is not known
--   process_group_desc  VARCHAR  -      purpose of the group, if the program gives it; the first by
--                                       name if there are several
--   dtype               VARCHAR  -      data type; the first by name if there are several
--   group_size          BIGINT   -      number of ranks in the group; the largest number if several
--                                       groups have this name; 2 for messages
--   count               BIGINT   count  number of collectives
--   transfer_ns         BIGINT   ns     sum of the transfer times of the collectives
--   algbw_gbps          DOUBLE   GB/s   (sum of bytes) / transfer_ns
--   busbw_gbps          DOUBLE   GB/s   (sum of bytes * factor) / transfer_ns; NULL if the factor
--                                       of a collective is not known
--   p01_busbw_gbps      DOUBLE   GB/s   1st percentile of the bus bandwidths of the collectives
--   p50_busbw_gbps      DOUBLE   GB/s   median of the bus bandwidths of the collectives
--   p99_busbw_gbps      DOUBLE   GB/s   99th percentile of the bus bandwidths of the collectives
-- check: count > 0 AND transfer_ns >= 0
-- check: bytes IS NOT NULL OR busbw_gbps IS NULL
-- check: p01_busbw_gbps <= p50_busbw_gbps AND p50_busbw_gbps <= p99_busbw_gbps
-- check: busbw_gbps BETWEEN 0 AND 2 * algbw_gbps
-- reads: groups_of_jobs, measured_collectives, paired_members
CREATE OR REPLACE MACRO collective_bandwidth_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks whose collectives are measured [default: all]
    only_steps BIGINT[] := NULL  -- steps whose collectives are measured [default: all]
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
    -- NULL unless all collectives have a factor. A collective has none if the trace cuts its splits
    -- short.
    CASE WHEN count(bus_bytes) = count(*) THEN sum(bus_bytes) END / nullif(sum(transfer_ns), 0)
        AS busbw_gbps,
    quantile_cont(bus_bytes / nullif(transfer_ns, 0), 0.01) AS p01_busbw_gbps,
    quantile_cont(bus_bytes / nullif(transfer_ns, 0), 0.5) AS p50_busbw_gbps,
    quantile_cont(bus_bytes / nullif(transfer_ns, 0), 0.99) AS p99_busbw_gbps
FROM named
GROUP BY job, process_group, name, bytes
ORDER BY job, process_group, name, bytes;
