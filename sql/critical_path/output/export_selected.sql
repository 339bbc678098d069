-- Selects the events of a rank for an export of only the critical path.
--
-- Three kinds of events are selected:
--   * events on the path, which export_marks.sql has marked
--   * events that are not spans
--   * annotations and Python functions of the host
INSERT INTO export_selected
SELECT e.rank, e.event_id, NULL AS lane
FROM events AS e
LEFT JOIN export_marks AS m ON m.event_id = e.event_id
WHERE e.job = getvariable('path_job')
  AND e.rank = getvariable('path_rank')
  AND (
    m.event_id IS NOT NULL
    OR e.ph IS DISTINCT FROM 'X'
    OR e.cat IN ('user_annotation', 'python_function')
  )
