-- The time from the first to the last start of a rank's spans.
--
-- $rank: the rank.
SELECT hta_us(max(ts_ns) - min(ts_ns)) AS duration
FROM hta_rows
WHERE rank = $rank
