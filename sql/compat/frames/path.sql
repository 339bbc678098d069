-- The graph of a rank's critical path, without the edges that only order events.
--
-- $rank: the rank. $window: the window. $first_ns: the first event of all ranks, from which times
-- count, in µs. Nodes are numbered in order of time, from 0.
WITH
edges AS (
    FROM path_edges AS p
    WHERE p.rank = $rank AND p.path_window = $window AND p.edge <> 'order'
),
nodes AS (
    SELECT node, row_number() OVER (ORDER BY at_ns, event_id, NOT is_start, node) - 1 AS number
    FROM (
        SELECT source_node AS node, source_event_id AS event_id, is_source_start AS is_start,
            start_ns AS at_ns
        FROM edges
        UNION
        SELECT target_node AS node, target_event_id AS event_id, is_target_start AS is_start,
            end_ns AS at_ns
        FROM edges
    )
)
SELECT
    coalesce(e.position, 0) AS position,
    e.edge,
    e.bound_by,
    e.event_id,
    s.number AS source,
    e.source_event_id,
    e.is_source_start,
    (e.start_ns - $first_ns) / 1000 AS source_us,
    t.number AS target,
    e.target_event_id,
    e.is_target_start,
    (e.end_ns - $first_ns) / 1000 AS target_us,
    e.time_ns / 1000 AS us
FROM edges AS e
JOIN nodes AS s ON s.node = e.source_node
JOIN nodes AS t ON t.node = e.target_node
ORDER BY source, target
