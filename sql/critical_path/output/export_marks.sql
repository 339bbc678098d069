-- What a rank's path goes through is marked in an export of the rank.
--
-- Variables: path_job, path_rank, path_window.
INSERT INTO export_marks
WITH
path AS (
    SELECT *
    FROM path_edges
    WHERE job = getvariable('path_job')
      AND rank = getvariable('path_rank')
      AND path_window = getvariable('path_window')
      AND position IS NOT NULL
),
critical AS (
    SELECT source_event_id AS event_id FROM path
    UNION
    SELECT target_event_id AS event_id FROM path
)
SELECT event_id, '"critical":1' AS members
FROM critical
WHERE event_id IS NOT NULL
