-- Draws the path of a rank: one line in Chrome's trace format per drawn event.
--
--   * Each edge of the path that takes time is drawn as a span on the track `Critical path`.
--   * Each edge `dependency`, `kernel_launch_delay` or `sync_dependency` is drawn as an arrow, if
--     both its ends are events of the trace. An arrow takes two lines, one per end.
WITH
path AS (
    FROM rank_path(
        getvariable('path_job'), getvariable('path_rank'), getvariable('path_window')
    )
),
-- A viewer attaches each end of an arrow to the span that is open at that instant. A span is no
-- longer open at the instant at which it ends. So, at the end of a span, the end of an arrow is
-- drawn 1 ns earlier. Spans of length zero are an exception.
arrows AS (
    SELECT
        p.position,
        p.edge,
        source.pid AS source_pid,
        source.tid AS source_tid,
        p.start_ns - CASE WHEN p.is_source_start OR source.dur_ns = 0 THEN 0 ELSE 1 END AS from_ns,
        target.pid AS target_pid,
        target.tid AS target_tid,
        p.end_ns - CASE WHEN p.is_target_start OR target.dur_ns = 0 THEN 0 ELSE 1 END AS to_ns
    FROM path AS p
    JOIN events AS source
        ON source.job = p.job AND source.rank = p.rank AND source.event_id = p.source_event_id
    JOIN events AS target
        ON target.job = p.job AND target.rank = p.rank AND target.event_id = p.target_event_id
    WHERE p.edge IN ('dependency', 'kernel_launch_delay', 'sync_dependency')
),
tracks AS (
    SELECT
        position,
        0 AS turn,
        chrome_event(
            'X', bound_by, name, 'Critical path', getvariable('path_window'),
            start_ns - getvariable('export_base_ns'), end_ns - start_ns, NULL, NULL, NULL,
            json_object('edge', edge, 'bound by', bound_by, 'position', position)::VARCHAR, NULL
        ) AS line
    FROM path
    WHERE time_ns > 0
),
ends AS (
    SELECT
        position,
        1 AS turn,
        chrome_event(
            's', 'critical_path', edge, source_pid, source_tid,
            from_ns - getvariable('export_base_ns'), NULL, 'critical ' || position, NULL, NULL,
            NULL, NULL
        ) AS line
    FROM arrows
    UNION ALL
    SELECT
        position,
        2 AS turn,
        chrome_event(
            'f', 'critical_path', edge, target_pid, target_tid,
            to_ns - getvariable('export_base_ns'), NULL, 'critical ' || position, 'e', NULL,
            NULL, NULL
        ) AS line
    FROM arrows
)
SELECT line
FROM (FROM tracks UNION ALL FROM ends)
ORDER BY position, turn
