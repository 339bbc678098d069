-- get_queue_length_time_series: the queue of each stream after each launch and start.
--
-- $rank: the rank.
SELECT
    CASE WHEN q.change > 0 THEN q.launch_id ELSE q.event_id END AS index,
    hta_us(q.at_ns - r.first_ns) AS ts,
    q.device AS pid,
    q.stream AS tid,
    q.stream,
    q.queue_length
FROM queue_length_series_v1(only_ranks := [$rank]) AS q
JOIN hta_ranks AS r ON r.rank = q.rank
ORDER BY q.stream, q.device, q.at_ns, q.change DESC, q.event_id
