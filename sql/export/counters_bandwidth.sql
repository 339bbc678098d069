-- The bandwidth of a rank's copies as counters in Chrome's trace format: one line per row of
-- memory_bandwidth_series.
WITH
series AS (
    SELECT
        b.device,
        b.copy_kind,
        b.bandwidth_gbps,
        b.at_ns,
        r.shift_ns,
        coalesce(aligned_ns(b.at_ns, r.local_ns, r.reference_ns, r.gain), b.at_ns) AS aligned_ns
    FROM export_bandwidth AS b
    JOIN export_ranks AS r ON r.rank = b.rank
    WHERE b.rank = getvariable('export_rank')
)
SELECT chrome_event(
    'C', 'hta_sql', concat(s.copy_kind, ' bandwidth'), p.new_pid, NULL,
    s.at_ns + s.shift_ns - getvariable('export_base_ns'), NULL, NULL, NULL, NULL,
    json_object('(GB/s)', s.bandwidth_gbps)::VARCHAR, NULL
) AS line
FROM series AS s
LEFT JOIN export_device_processes AS p
    ON p.rank = getvariable('export_rank') AND p.device IS NOT DISTINCT FROM s.device
WHERE getvariable('export_window_from_ns') IS NULL
   OR (
    s.aligned_ns >= getvariable('export_window_from_ns')
    AND s.aligned_ns < getvariable('export_window_until_ns')
   )
ORDER BY s.device, s.copy_kind, s.at_ns
