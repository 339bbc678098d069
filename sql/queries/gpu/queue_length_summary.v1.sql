-- Queue length of each stream: statistics over all changes, and the mean over time.
--
-- The points are the rows of queue_length_series: one after each launch and one after each activity
-- start. Statistics over points count each point once, regardless of how long the queue keeps its
-- length. A burst of launches makes many points in little time, so these statistics say little
-- about the length over time. time_weighted_mean is the mean over time, from the first point to the
-- last.
--
--     launches      a b c
--     activities          [a)       [b)       [c)
--     queue_length  1 2 3 2         1         0
--
--     mean                (1 + 2 + 3 + 2 + 1 + 0) / 6 = 1.5
--     time_weighted_mean  (1*2 + 2*2 + 3*2 + 2*10 + 1*10) / 26 = 1.62
--
-- Percentiles interpolate linearly between points, as in pandas.
--
-- `min` is below 0 only if activities start before their launch begins, because the clocks of host
-- and device disagree. `early_start_count` counts these activities. Each such activity lowers the
-- length by 1 from its start until its launch begins, even if the length stays above 0.
--
-- HTA's get_queue_length_summary has only the statistics over points, and only for the launches
-- that HTA recognises (see queue_length_series).
--
-- since: 0.1
-- grain: job, rank, device, stream
-- needs: launches
-- returns:
--   job                 VARCHAR  -      run of a program
--   rank                INTEGER  -      rank of the process
--   device              BIGINT   -      GPU, as the process numbers it
--   stream              BIGINT   -      stream, as the device numbers it
--   count               BIGINT   count  points, two per launched activity
--   mean                DOUBLE   -      mean over points
--   stddev              DOUBLE   -      sample standard deviation over points
--   min                 BIGINT   -      shortest queue
--   p25                 DOUBLE   -      25th percentile over points
--   p50                 DOUBLE   -      median over points
--   p75                 DOUBLE   -      75th percentile over points
--   max                 BIGINT   -      longest queue
--   time_weighted_mean  DOUBLE   -      mean over time; NULL if all points are at the same instant
--   early_start_count   BIGINT   count  activities that start before their launch begins
-- check: count > 0 AND count % 2 = 0
-- check: min <= p25 AND p25 <= p50 AND p50 <= p75 AND p75 <= max
-- check: mean BETWEEN min AND max
-- check: stddev >= 0 AND (stddev = 0 OR min < max)
-- check: time_weighted_mean BETWEEN min - 1e-9 AND max + 1e-9
-- check: early_start_count BETWEEN 0 AND count // 2
-- check: min BETWEEN -early_start_count AND 0
-- check: max BETWEEN 0 AND count // 2
-- reads: queue_lengths, sample_stddev
CREATE OR REPLACE MACRO queue_length_summary_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to measure [default: all]
    only_steps BIGINT[] := NULL  -- steps to measure [default: the whole trace]
) AS TABLE
SELECT
    job,
    rank,
    device,
    stream,
    count(*) AS count,
    sum(queue_length) / count(*) AS mean,
    sample_stddev(count(*), sum(queue_length), sum(queue_length::HUGEINT * queue_length))
        AS stddev,
    min(queue_length) AS min,
    quantile_cont(queue_length, 0.25) AS p25,
    quantile_cont(queue_length, 0.5) AS p50,
    quantile_cont(queue_length, 0.75) AS p75,
    max(queue_length) AS max,
    sum(queue_length::HUGEINT * (until_ns - at_ns)) / nullif(max(at_ns) - min(at_ns), 0)
        AS time_weighted_mean,
    count(*) FILTER (change = 1 AND is_early_start) AS early_start_count
FROM queue_lengths(only_jobs, only_ranks, only_steps)
GROUP BY job, rank, device, stream
ORDER BY job, rank, device, stream;
