-- get_memory_bw_time_series: the bandwidth of copies at each instant at which it changes.
--
-- $rank: the rank.
SELECT
    hta_us(b.at_ns - r.first_ns) AS ts,
    b.device AS pid,
    b.copy_kind AS name,
    b.bandwidth_gbps AS memory_bw_gbps
FROM memory_bandwidth_series_v1(only_ranks := [$rank]) AS b
JOIN hta_ranks AS r ON r.rank = b.rank
ORDER BY b.copy_kind, b.at_ns, b.device
