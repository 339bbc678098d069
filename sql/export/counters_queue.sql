-- The lengths of a rank's queues as counters in Chrome's trace format: one line per row of
-- queue_length_series.
--
-- The name has the stream, since Perfetto draws counters of one name and process as one line,
-- whatever their id is.
WITH
series AS (
    SELECT
        q.device,
        q.stream,
        q.queue_length,
        q.at_ns,
        q.change,
        q.event_id,
        r.shift_ns,
        coalesce(aligned_ns(q.at_ns, r.local_ns, r.reference_ns, r.gain), q.at_ns) AS aligned_ns
    FROM export_queue AS q
    JOIN export_ranks AS r ON r.rank = q.rank
    WHERE q.rank = getvariable('export_rank')
)
SELECT chrome_event(
    'C', 'hta_sql', concat('Queue length', ' of stream ' || s.stream), p.new_pid, NULL,
    s.at_ns + s.shift_ns - getvariable('export_base_ns'), NULL, s.stream::VARCHAR, NULL, NULL,
    json_object('(launches)', s.queue_length)::VARCHAR, NULL
) AS line
FROM series AS s
LEFT JOIN export_device_processes AS p
    ON p.rank = getvariable('export_rank') AND p.device IS NOT DISTINCT FROM s.device
WHERE getvariable('export_window_from_ns') IS NULL
   OR (
    s.aligned_ns >= getvariable('export_window_from_ns')
    AND s.aligned_ns < getvariable('export_window_until_ns')
   )
ORDER BY s.device, s.stream, s.at_ns, s.change DESC, s.event_id
