-- Bytes, time and bandwidth of each device's copies and memsets, by kind.
--
-- A memset counts as a copy here. The statistics are over points. A point is a row of
-- memory_bandwidth_series with a bandwidth above 0. Each point counts once, regardless of how long
-- its bandwidth holds. If copies do not overlap, there is one point per copy.
--
--     HtoD, 2 GB/s    [=======)        [=======)
--     HtoD, 3 GB/s        [=======)            [===)
--     points          2   5   3        2       3
--     time_ns         ............     ............
--
--     count 5, mean 3, p50 3, max 5, time_ns 24
--
-- Quartiles interpolate linearly between points, as in pandas. stddev is the standard deviation of
-- a sample; it is 0 for a single point. Copies of zero length and copies of unknown bandwidth make
-- no points, but count in copy_count and bytes.
--
-- HTA's get_memory_bw_summary computes the same statistics from HTA's own series. There, residues
-- such as 1e-13 GB/s count as points. If one copy ends at the instant at which the next begins, HTA
-- may also count the sum of both. HTA has no row if the profiler records no bandwidth, as with some
-- profilers on AMD.
--
-- since: 0.1
-- grain: job, rank, device, copy_kind
-- needs: copies
-- returns:
--   job         VARCHAR  -      run of a program
--   rank        INTEGER  -      rank of the process
--   device      BIGINT   -      GPU, as the process numbers it
--   copy_kind   VARCHAR  -      Memcpy HtoD, Memcpy DtoH, ..., Memcpy Unknown or Memset
--   count       BIGINT   count  points; if there are none, the statistics are NULL
--   mean        DOUBLE   GB/s   mean of the points, in GB/s
--   stddev      DOUBLE   GB/s   sample standard deviation of the points, in GB/s
--   min         DOUBLE   GB/s   lowest point, in GB/s
--   p25         DOUBLE   GB/s   first quartile of the points, in GB/s
--   p50         DOUBLE   GB/s   median of the points, in GB/s
--   p75         DOUBLE   GB/s   third quartile of the points, in GB/s
--   max         DOUBLE   GB/s   highest point, in GB/s
--   bytes       BIGINT   bytes  sum over copies with recorded bytes; NULL if there are none
--   copy_count  BIGINT   count  copies and memsets
--   time_ns     BIGINT   ns     time with at least one copy under way
-- check: copy_count > 0
-- check: count BETWEEN 0 AND 2 * copy_count - 1
-- check: count = 0 OR time_ns > 0
-- check: time_ns >= 0
-- check: bytes >= 0
-- check: (mean IS NULL) = (count = 0)
-- check: min > 0
-- check: min <= p25 AND p25 <= p50 AND p50 <= p75 AND p75 <= max
-- check: mean BETWEEN min * (1 - 1e-9) AND max * (1 + 1e-9)
-- check: stddev >= 0 AND (stddev = 0 OR min < max)
-- reads: copies_under_way
CREATE OR REPLACE MACRO memory_bandwidth_summary_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to measure [default: all]
    only_steps BIGINT[] := NULL  -- steps to measure [default: the whole trace]
) AS TABLE
WITH
instants AS (
    SELECT
        *,
        CASE WHEN is_known AND bandwidth > 0 THEN bandwidth END AS exact_point,
        exact_point::DOUBLE AS point
    FROM copies_under_way(only_jobs, only_ranks, only_steps)
)
SELECT
    job,
    rank,
    device,
    copy_kind,
    count(point) AS count,
    sum(exact_point)::DOUBLE / count(point) AS mean,
    -- Ordered, because a sum of doubles depends on the order.
    CASE count(point) WHEN 1 THEN 0 ELSE stddev_samp(point ORDER BY point) END AS stddev,
    min(point) AS min,
    quantile_cont(point, 0.25) AS p25,
    quantile_cont(point, 0.5) AS p50,
    quantile_cont(point, 0.75) AS p75,
    max(point) AS max,
    TRY_CAST(sum(begun_bytes) AS BIGINT) AS bytes,
    sum(begun_count)::BIGINT AS copy_count,
    coalesce(sum(until_ns - at_ns) FILTER (running_count > 0), 0)::BIGINT AS time_ns
FROM instants
GROUP BY job, rank, device, copy_kind
ORDER BY job, rank, device, copy_kind;
