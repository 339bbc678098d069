-- The graph of a rank's critical path: each node with each edge that leaves it. Edges that only
-- order events are left out. Nodes are numbered in order of time, from 0. As in HTA, the ends of
-- synchronisations have numbers, but no edges.
--
-- $rank: the rank. $window: the window. $first_ns: the first event of all ranks, from which times
-- count, in µs. $launches: whether a launch that delays nothing has an edge, which takes no time.
WITH
edges AS (
    SELECT p.* REPLACE (
        CASE WHEN p.edge = 'order' THEN 'kernel_launch_delay' ELSE p.edge END AS edge
    )
    FROM path_edges AS p
    LEFT JOIN gpu_activities AS a
        ON a.rank = p.rank AND a.event_id = p.target_event_id AND a.launch_id = p.source_event_id
    WHERE p.rank = $rank
      AND p.path_window = $window
      AND (p.edge <> 'order' OR ($launches AND a.event_id IS NOT NULL))
),
ends AS (
    SELECT source_event_id AS event_id, is_source_start AS is_start, start_ns AS at_ns
    FROM edges
    UNION
    SELECT target_event_id, is_target_start, end_ns
    FROM edges
),
calls AS (
    SELECT DISTINCT h.correlation
    FROM ends AS n
    JOIN host_ops AS h ON h.rank = $rank AND h.event_id = n.event_id
),
-- All waits of streams, and the synchronisations of calls in the graph.
synchronisations AS (
    SELECT e.event_id, e.start_ns, e.end_ns
    FROM events AS e
    WHERE e.rank = $rank
      AND e.cat = 'cuda_sync'
      AND e.stream <> -1
      AND (e.name = 'Stream Wait Event' OR e.correlation IN (FROM calls))
),
nodes AS (
    SELECT
        event_id,
        is_start,
        at_ns,
        row_number() OVER (ORDER BY at_ns, event_id, NOT is_start) - 1 AS number
    FROM (
        FROM ends
        UNION
        SELECT event_id, true, start_ns FROM synchronisations
        UNION
        SELECT event_id, false, end_ns FROM synchronisations
    )
)
SELECT
    coalesce(e.position, 0) AS position,
    e.edge,
    e.bound_by,
    e.event_id,
    s.number AS source,
    s.event_id AS source_event_id,
    s.is_start AS is_source_start,
    (s.at_ns - $first_ns) / 1000 AS source_us,
    t.number AS target,
    e.time_ns / 1000 AS us
FROM nodes AS s
LEFT JOIN edges AS e ON e.source_event_id = s.event_id AND e.is_source_start = s.is_start
LEFT JOIN nodes AS t ON t.event_id = e.target_event_id AND t.is_start = e.is_target_start
ORDER BY source, target
