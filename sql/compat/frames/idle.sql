-- get_idle_time_breakdown, first frame: each stream's idle time by cause.
--
-- $rank: the rank. $streams: the streams, NULL for all. $gap_ns: a kernel_wait is shorter.
WITH
picked AS (
    FROM hta_stream_activities($rank, $streams)
),
-- Each stream has the cause `other`, if only with no time.
causes AS (
    SELECT first_id, stream, cause, gap_ns
    FROM idle_before(picked, $gap_ns)
    UNION ALL
    SELECT DISTINCT first_id, stream, 'other' AS cause, 0 AS gap_ns
    FROM picked
),
times AS (
    SELECT first_id, stream, cause, sum(gap_ns) AS idle_ns
    FROM causes
    GROUP BY first_id, stream, cause
)
SELECT
    $rank AS rank,
    stream,
    cause AS idle_category,
    hta_us(idle_ns) AS idle_time,
    hta_rounded(idle_ns / nullif(sum(idle_ns) OVER (PARTITION BY stream), 0), 2)
        AS idle_time_ratio
FROM times
ORDER BY first_id, cause
