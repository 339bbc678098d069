-- One row per job, rank, device, stream and cause: statistics of idle times.
--
-- `idle_times` has job, rank, device, stream, cause and time_ns.
--
-- Returns gap_count, idle_ns, idle_frac, mean_ns, min_ns, p50_ns, p95_ns, max_ns and stddev_ns, as
-- in the help of idle_time_breakdown.
--
-- reads: sample_stddev, whole_ns
CREATE OR REPLACE MACRO idle_statistics(idle_times) AS TABLE
WITH
causes AS (
    SELECT
        job,
        rank,
        device,
        stream,
        cause,
        count(*) AS gap_count,
        sum(time_ns) AS total_ns,
        sum(time_ns::HUGEINT * time_ns) AS square_ns,
        avg(time_ns) AS mean,
        min(time_ns) AS min_ns,
        quantile_cont(time_ns, 0.5) AS p50,
        quantile_cont(time_ns, 0.95) AS p95,
        max(time_ns) AS max_ns
    FROM query_table(idle_times)
    GROUP BY job, rank, device, stream, cause
)
SELECT
    job,
    rank,
    device,
    stream,
    cause,
    gap_count,
    total_ns::BIGINT AS idle_ns,
    total_ns / sum(total_ns) OVER (PARTITION BY job, rank, device, stream) AS idle_frac,
    round(mean)::BIGINT AS mean_ns,
    min_ns,
    whole_ns(p50) AS p50_ns,
    whole_ns(p95) AS p95_ns,
    max_ns,
    round(sample_stddev(gap_count, total_ns, square_ns))::BIGINT AS stddev_ns
FROM causes;
