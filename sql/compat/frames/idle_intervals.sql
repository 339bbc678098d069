-- get_idle_time_breakdown, second frame: statistics of the idle intervals of a stream, by cause.
--
-- $rank: the rank. $streams: the streams, NULL for all. $gap_ns: a kernel_wait is shorter.
WITH
picked AS (
    FROM hta_stream_activities($rank, $streams)
),
intervals AS (
    SELECT first_id, stream, cause AS idle_category, hta_us(gap_ns) AS us
    FROM idle_before(picked, $gap_ns)
)
SELECT
    $rank AS rank,
    stream,
    idle_category,
    count(*)::DOUBLE AS count,
    hta_rounded(avg(us), 2) AS mean,
    hta_rounded(stddev_samp(us), 2) AS std,
    min(us) AS min,
    hta_rounded(quantile_cont(us, 0.25), 2) AS "25%",
    hta_rounded(quantile_cont(us, 0.5), 2) AS "50%",
    hta_rounded(quantile_cont(us, 0.75), 2) AS "75%",
    max(us) AS max
FROM intervals
GROUP BY first_id, stream, idle_category
ORDER BY first_id, idle_category
