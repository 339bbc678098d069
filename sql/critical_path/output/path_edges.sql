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
    source.event_id AS source_event_id,
    source.is_start AS is_source_start,
    target.event_id AS target_event_id,
    target.is_start AS is_target_start,
    source.at_ns AS start_ns,
    target.at_ns AS end_ns,
    e.time_ns,
    e.delay_ns
FROM job_rank_edges AS e
JOIN job_nodes AS source ON source.node = e.source
JOIN job_nodes AS target ON target.node = e.target
LEFT JOIN path_positions AS p ON p.number = e.number
LEFT JOIN (
    SELECT rank, event_id, name::path_name AS name
    FROM job_events
    WHERE rank = getvariable('path_rank')
) AS event ON event.rank = e.rank AND event.event_id = e.event_id
WHERE e.rank = getvariable('path_rank')
ORDER BY p.position NULLS LAST, e.number
