-- Draws the path of a rank as a track of its own: one line in Chrome's trace format per edge that
-- takes time.
SELECT
    chrome_event(
        'X', bound_by, name, 'Critical path', getvariable('path_window'),
        start_ns - getvariable('export_base_ns'), end_ns - start_ns, NULL, NULL, NULL,
        json_object('edge', edge, 'bound by', bound_by, 'position', position)::VARCHAR, NULL
    ) AS line
FROM rank_path(
    getvariable('path_job'), getvariable('path_rank'), getvariable('path_window')
)
WHERE time_ns > 0
ORDER BY position
