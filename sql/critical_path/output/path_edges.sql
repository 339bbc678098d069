-- One row per edge of the graph of the rank path_rank, as the table path_edges stores it.
--
-- path_first_node is the rank's first node in the job. The stored numbers begin at 0 on each rank.
--
-- path_positions lists the edges on the rank's path, in order. Edges that are not on the path have
-- the position NULL.
WITH
edges AS (
    FROM job_rank_edges
    WHERE rank = getvariable('path_rank')
),
nodes AS NOT MATERIALIZED (
    FROM job_nodes
    WHERE rank = getvariable('path_rank')
),
events AS (
    SELECT event_id, name::path_name AS name
    FROM job_events
    WHERE rank = getvariable('path_rank')
)
SELECT
    getvariable('path_window') AS path_window,
    p.position,
    e.edge,
    e.bound_by,
    e.event_id,
    event.name,
    e.source - getvariable('path_first_node') AS source_node,
    e.target - getvariable('path_first_node') AS target_node,
    source.event_id AS source_event_id,
    source.is_start AS is_source_start,
    target.event_id AS target_event_id,
    target.is_start AS is_target_start,
    source.at_ns AS start_ns,
    target.at_ns AS end_ns,
    e.time_ns,
    e.delay_ns
FROM edges AS e
JOIN nodes AS source ON source.node = e.source
JOIN nodes AS target ON target.node = e.target
LEFT JOIN path_positions AS p ON p.number = e.number
LEFT JOIN events AS event ON event.event_id = e.event_id
ORDER BY p.position NULLS LAST, e.number
