-- One row per edge of the graph of the rank path_rank, as the table path_edges stores it.
--
-- path_first_node is the rank's first node in the job. The stored numbers begin at 0 on each rank.
--
-- path_positions lists the edges on the rank's path, in order. Edges that are not on the path have
-- the position NULL.
SELECT
    getvariable('path_window') AS path_window,
    p.position,
    e.edge,
    e.bound_by,
    e.event_id,
    event.name,
    e.source - getvariable('path_first_node') AS source_node,
    e.target - getvariable('path_first_node') AS target_node,
    e.source_event_id,
    e.is_source_start,
    e.target_event_id,
    e.is_target_start,
    e.source_ns AS start_ns,
    e.target_ns AS end_ns,
    e.time_ns,
    e.delay_ns
FROM path_edge_rows AS e
LEFT JOIN path_positions AS p ON p.number = e.number
LEFT JOIN job_events AS event ON event.rank = e.rank AND event.event_id = e.event_id
WHERE e.rank = getvariable('path_rank')
ORDER BY p.position NULLS LAST, e.number
