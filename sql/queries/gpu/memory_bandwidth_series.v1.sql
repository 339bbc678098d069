-- Total bandwidth of each device's copies and memsets over time.
--
-- A memset counts as a copy here. Each row is an instant at which copies of one copy_kind begin or
-- end. bandwidth_gbps is the sum of the bandwidths of all copies of this kind that run between this
-- row and the next row of this kind, on all streams of the device.
--
--     HtoD, 2 GB/s    [=======)        [=======)
--     HtoD, 3 GB/s        [=======)            [===)
--     bandwidth_gbps  2   5   3   0    2       3   0
--
-- The bandwidth of a copy is the value that the profiler records. If it records none, the bandwidth
-- is the copy's bytes divided by its duration. A copy has no rows if neither is known. A copy of
-- zero length has no rows either, since it is never under way. Sums are in fixed point with steps
-- of 1e-15 GB/s, so they are exactly 0 while no copy runs.
--
-- HTA's get_memory_bw_time_series has one row per start and one row per end, in arbitrary order if
-- both are at the same instant. Its sums leave residues such as 1e-13 GB/s while no copy runs. It
-- assumes 1 us for copies of zero length, and adds up all devices of a trace.
--
-- since: 0.1
-- grain: job, rank, device, copy_kind, at_ns
-- needs: copies
-- returns:
--   job             VARCHAR  -     run of a program
--   rank            INTEGER  -     rank of the process
--   device          BIGINT   -     GPU, as the process numbers it
--   copy_kind       VARCHAR  -     Memcpy HtoD, Memcpy DtoH, ..., Memcpy Unknown or Memset
--   at_ns           BIGINT   ns    instant at which copies begin or end
--   bandwidth_gbps  DOUBLE   GB/s  sum over the copies that run until the next row
-- check: bandwidth_gbps >= 0
-- reads: copies_under_way
CREATE OR REPLACE MACRO memory_bandwidth_series_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to measure [default: all]
    only_steps BIGINT[] := NULL  -- steps to measure [default: the whole trace]
) AS TABLE
SELECT
    job,
    rank,
    device,
    copy_kind,
    at_ns,
    bandwidth::DOUBLE AS bandwidth_gbps
FROM copies_under_way(only_jobs, only_ranks, only_steps)
WHERE is_known
ORDER BY job, rank, device, copy_kind, at_ns;
