-- Draws edges of a rank's graph as arrows: two lines in Chrome's trace format per arrow, one per
-- end. Both ends of an arrow are events of the trace.
--
-- Drawn are the edges `dependency`, `kernel_launch_delay` and `sync_dependency` of the path. If the
-- variable path_all_edges is true, all edges of the graph are drawn, except edges that only order
-- events and launches that delay nothing.
WITH
drawn AS (
    SELECT *, row_number() OVER (ORDER BY position NULLS LAST, source_node, target_node) AS number
    FROM path_edges
    WHERE job = getvariable('path_job')
      AND rank = getvariable('path_rank')
      AND path_window = getvariable('path_window')
      AND CASE
        WHEN getvariable('path_all_edges')
        THEN edge <> 'order' AND NOT (edge = 'kernel_launch_delay' AND time_ns = 0)
        ELSE position IS NOT NULL
            AND edge IN ('dependency', 'kernel_launch_delay', 'sync_dependency')
      END
),
-- A viewer attaches each end of an arrow to the span that is open at that instant. A span is no
-- longer open at the instant at which it ends. So, at the end of a span, the end of an arrow is
-- drawn 1 ns earlier. Spans of length zero are an exception.
arrows AS (
    SELECT
        d.number,
        'critical_path_' || d.edge AS category,
        json_object('weight', d.time_ns / 1000, 'critical', (d.position IS NOT NULL)::INTEGER)
            ::VARCHAR AS args,
        source.pid AS source_pid,
        source.tid AS source_tid,
        d.start_ns - CASE WHEN d.is_source_start OR source.dur_ns = 0 THEN 0 ELSE 1 END AS from_ns,
        target.pid AS target_pid,
        target.tid AS target_tid,
        d.end_ns - CASE WHEN d.is_target_start OR target.dur_ns = 0 THEN 0 ELSE 1 END AS to_ns
    FROM drawn AS d
    JOIN events AS source
        ON source.job = d.job AND source.rank = d.rank AND source.event_id = d.source_event_id
    JOIN events AS target
        ON target.job = d.job AND target.rank = d.rank AND target.event_id = d.target_event_id
),
ends AS (
    SELECT
        number,
        1 AS turn,
        chrome_event(
            's', category, 'critical_path', source_pid, source_tid,
            from_ns - getvariable('export_base_ns'), NULL, 'critical ' || number, NULL, NULL,
            args, NULL
        ) AS line
    FROM arrows
    UNION ALL
    SELECT
        number,
        2 AS turn,
        chrome_event(
            'f', category, 'critical_path', target_pid, target_tid,
            to_ns - getvariable('export_base_ns'), NULL, 'critical ' || number, 'e', NULL,
            args, NULL
        ) AS line
    FROM arrows
)
SELECT line
FROM ends
ORDER BY number, turn
