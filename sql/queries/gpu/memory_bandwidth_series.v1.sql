-- How fast each device's copies and memsets moved bytes together, at every change.
--
-- One row for each instant at which a copy begins or ends: the sum of the bandwidths of the copies
-- of its kind under way from then on, on all streams. It holds until the next row.
--
--     HtoD, 2 GB/s    [=======)        [=======)
--     HtoD, 3 GB/s        [=======)            [===)
--     bandwidth_gbps  2   5   3   0    2       3   0
--
-- A copy has the bandwidth that the profiler gives it, else its bytes by its duration. Copies of
-- which neither is known have no rows, nor have those of no length, which are never under way. Sums
-- are in fixed point of 1e-15 GB/s: exactly 0 where nothing runs.
--
-- HTA's get_memory_bw_time_series has a row for every beginning and every end, in any order where
-- they fall together; it leaves residues such as 1e-13 where nothing runs, lets copies of no length
-- take 1 us, and adds up all devices of a trace.
--
-- since: 0.1
-- grain: job, rank, device, copy_kind, at_ns
-- returns:
--   job             VARCHAR  -     run of a program
--   rank            INTEGER  -     rank of the process
--   device          BIGINT   -     GPU, as the process numbers it
--   copy_kind       VARCHAR  -     Memcpy HtoD, Memcpy DtoH, ..., Memcpy Unknown or Memset
--   at_ns           BIGINT   ns    when copies begin or end
--   bandwidth_gbps  DOUBLE   GB/s  of all copies under way from then on; 1e9 bytes/s
-- check: bandwidth_gbps >= 0
-- reads: copies_under_way
CREATE OR REPLACE MACRO memory_bandwidth_series_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to measure [default: all]
    only_steps BIGINT[] := NULL  -- steps to measure [default: all, also outside steps]
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
