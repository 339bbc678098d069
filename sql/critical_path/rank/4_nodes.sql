-- The nodes of the graph: the beginnings and ends of spans and activities, then those of the
-- window.
--
-- Nodes are numbered from 0: thread after thread, then stream after stream, each in order of time.
-- If a thread has several points at the same instant, ends come before beginnings, and outer
-- beginnings before inner ones. Spans of length zero lie in the spans that begin at the same
-- instant. The window's two nodes have no event.
CREATE OR REPLACE TEMP TABLE path_nodes AS
WITH
points AS (
    SELECT
        thread,
        event_id,
        true AS is_start,
        start_ns AS at_ns,
        CASE WHEN end_ns > start_ns THEN 1 ELSE 2 END AS phase,
        -end_ns AS outer_first,
        event_id AS turn
    FROM path_spans
    UNION ALL
    SELECT
        thread,
        event_id,
        false AS is_start,
        end_ns AS at_ns,
        CASE WHEN end_ns > start_ns THEN 0 ELSE 3 END AS phase,
        -start_ns AS outer_first,
        -event_id AS turn
    FROM path_spans
    UNION ALL
    SELECT
        NULL AS thread,
        event_id,
        true AS is_start,
        start_ns AS at_ns,
        0 AS phase,
        0 AS outer_first,
        2 * turn AS turn
    FROM path_activities
    UNION ALL
    SELECT
        NULL AS thread,
        event_id,
        false AS is_start,
        end_ns AS at_ns,
        0 AS phase,
        0 AS outer_first,
        2 * turn + 1 AS turn
    FROM path_activities
    UNION ALL
    SELECT
        NULL AS thread,
        NULL AS event_id,
        is_start,
        CASE WHEN is_start THEN getvariable('path_start_ns') ELSE getvariable('path_end_ns') END
            AS at_ns,
        1 AS phase,
        0 AS outer_first,
        CASE WHEN is_start THEN 0 ELSE 1 END AS turn
    FROM (VALUES (true), (false)) AS ends (is_start)
)
SELECT
    row_number() OVER (
        ORDER BY
            thread NULLS LAST,
            CASE WHEN thread IS NOT NULL THEN at_ns END,
            phase,
            outer_first,
            turn
    ) - 1 AS node,
    thread,
    event_id,
    is_start,
    at_ns
FROM points;
