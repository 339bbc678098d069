-- Marks the events on the critical path of a rank, for an export of this rank.
--
-- Variables: path_job, path_rank, path_window.
INSERT INTO export_marks
WITH
path AS (
    FROM rank_path(
        getvariable('path_job'), getvariable('path_rank'), getvariable('path_window')
    )
),
critical AS (
    SELECT source_event_id AS event_id FROM path
    UNION
    SELECT target_event_id AS event_id FROM path
)
SELECT event_id, '"critical":1' AS members
FROM critical
WHERE event_id IS NOT NULL
