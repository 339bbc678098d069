-- TraceDiff: count and total duration of each name, on one side of a comparison.
--
-- $ranks, $steps: what to compare. $device: whether GPU activities count. $host: whether all other
-- events count. $short: whether names are short.
SELECT
    CASE WHEN $short THEN short_name ELSE name END AS name,
    count(*) AS counts,
    hta_us(sum(dur_ns)) AS total_duration
FROM hta_rows
WHERE list_contains($ranks, rank)
  AND list_contains($steps, iteration)
  AND CASE WHEN is_device THEN $device ELSE $host END
GROUP BY ALL
ORDER BY ALL
