-- One row: the event_id of the first and the last exported event of a rank (NULL: no such event).
SELECT min(e.event_id) AS first_id, max(e.event_id) AS last_id
FROM events AS e
WHERE getvariable('export_all')
  AND e.job = getvariable('export_job')
  AND e.rank = getvariable('export_rank')
UNION ALL BY NAME
SELECT min(event_id) AS first_id, max(event_id) AS last_id
FROM export_selected
WHERE NOT getvariable('export_all') AND rank = getvariable('export_rank')
ORDER BY first_id NULLS LAST
LIMIT 1
