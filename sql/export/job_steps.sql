-- One row per step of the job: its name, its start and end on the clock of the exported file, and
-- its arguments in the file.
--
-- A step lasts from its first start on a chosen rank to its last end on a chosen rank.
SELECT
    concat('step ', s.step) AS name,
    min(s.start_ns + r.shift_ns) AS start_ns,
    max(s.end_ns + r.shift_ns) AS end_ns,
    json_object(
        'span (us)', (max(s.end_ns + r.shift_ns) - min(s.start_ns + r.shift_ns)) / 1000,
        'ranks', count(DISTINCT s.rank)
    )::VARCHAR AS arguments
FROM steps AS s
JOIN export_ranks AS r ON r.rank = s.rank AND r.is_chosen
WHERE s.job = getvariable('export_job')
  AND (getvariable('export_step') IS NULL OR s.step = getvariable('export_step'))
  AND (
    getvariable('export_window_from_ns') IS NULL
    OR (s.start_ns < r.until_ns AND s.end_ns > r.from_ns)
  )
GROUP BY s.step
ORDER BY start_ns, end_ns
