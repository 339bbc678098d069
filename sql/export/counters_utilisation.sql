-- The percentage of time in which a rank is busy, as a counter in Chrome's trace format: one line
-- per row of export_buckets.
--
-- The counter is drawn at the process of the rank's first device. The times in export_buckets are
-- on the reference rank's clock.
WITH
processes AS (
    SELECT new_pid
    FROM export_device_processes
    WHERE rank = getvariable('export_rank')
    ORDER BY device, new_pid
    LIMIT 1
)
SELECT chrome_event(
    'C', 'hta_sql', 'GPU busy', p.new_pid, NULL,
    b.start_ns - r.to_aligned_ns + r.shift_ns - getvariable('export_base_ns'), NULL, NULL, NULL,
    NULL, json_object('(%)', 100 * b.busy_frac)::VARCHAR, NULL
) AS line
FROM export_buckets AS b
JOIN export_ranks AS r ON r.rank = b.rank
CROSS JOIN processes AS p
WHERE b.rank = getvariable('export_rank')
  AND (
    getvariable('export_window_from_ns') IS NULL
    OR (
        b.start_ns >= getvariable('export_window_from_ns')
        AND b.start_ns < getvariable('export_window_until_ns')
    )
  )
ORDER BY b.start_ns
