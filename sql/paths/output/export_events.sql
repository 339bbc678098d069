-- A rank's events as Chrome's trace format has them, a line each; those on its path are marked.
--
-- Variables: path_job, path_rank, path_window; export_base_ns, from which stamps are counted;
-- export_all, false to leave out spans of operators, calls and GPU activities off the path.
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
),
of_rank AS (
    SELECT e.*, c.event_id IS NOT NULL AS is_critical
    FROM events AS e
    LEFT JOIN critical AS c ON c.event_id = e.event_id
    WHERE e.job = getvariable('path_job') AND e.rank = getvariable('path_rank')
),
shown AS (
    SELECT *
    FROM of_rank
    WHERE getvariable('export_all')
       OR is_critical
       OR ph IS DISTINCT FROM 'X'
       OR cat IN ('user_annotation', 'python_function')
)
SELECT chrome_event(
    ph, cat, name, pid, tid, start_ns - getvariable('export_base_ns'), dur_ns, id, bp, s,
    CASE
        WHEN NOT is_critical THEN args
        WHEN args IS NULL OR regexp_full_match(args, '\s*\{\s*\}\s*') THEN '{"critical":1}'
        ELSE regexp_replace(args, '^\s*\{', '{"critical":1,')
    END,
    more
) AS line
FROM shown
ORDER BY event_id
