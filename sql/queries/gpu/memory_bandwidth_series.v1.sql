-- Total bandwidth of each device's copies and memsets over time.
--
-- Memsets count as copies here. There is one row per instant at which a copy of some kind begins or
-- ends. It gives the sum of the bandwidths of all copies of this kind that are under way from then
-- on, on all streams. The sum holds until the next row.
--
--     HtoD, 2 GB/s    [=======)        [=======)
--     HtoD, 3 GB/s        [=======)            [===)
--     bandwidth_gbps  2   5   3   0    2       3   0
--
-- A copy's bandwidth is the one that the profiler records. If it records none, it is the copy's
-- bytes divided by its duration. Copies for which neither is known have no rows. Copies of zero
-- length have none either, since they are never under way. Sums are in fixed point with steps of
-- 1e-15 GB/s, so that they are exactly 0 where nothing runs.
--
-- HTA's get_memory_bw_time_series has one row per start and one per end, in arbitrary order if they
-- coincide. Its sums leave residues such as 1e-13 where nothing runs. It assumes 1 us for copies of
-- zero length, and adds up all devices of a trace.
--
-- since: 0.1
-- grain: job, rank, device, copy_kind, at_ns
-- returns:
--   job             VARCHAR  -     run of a program
--   rank            INTEGER  -     rank of the process
--   device          BIGINT   -     GPU, as the process numbers it
--   copy_kind       VARCHAR  -     Memcpy HtoD, Memcpy DtoH, ..., Memcpy Unknown or Memset
--   at_ns           BIGINT   ns    instant at which copies begin or end
--   bandwidth_gbps  DOUBLE   GB/s  sum over the copies under way from then on; 1e9 bytes/s
-- check: bandwidth_gbps >= 0
-- reads: copies_under_way
CREATE OR REPLACE MACRO memory_bandwidth_series_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to measure [default: all]
    only_steps BIGINT[] := NULL  -- steps to measure [default: all, inside and outside steps]
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
