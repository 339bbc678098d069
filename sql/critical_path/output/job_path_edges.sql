-- The job's path as it is stored. Every instant of the window is bound by something.
--
-- An edge without `bound_by` gets one here. Time between operators counts as the host's, and a
-- delay behind another stream as that stream's. Time before a device has finished an earlier window
-- counts as that window's.
SELECT
    getvariable('path_window') AS path_window,
    p.position,
    e.rank,
    e.edge,
    CASE
        WHEN e.bound_by IS NOT NULL THEN e.bound_by
        WHEN e.why = 'launch' THEN 'gpu_kernel_launch_overhead'
        WHEN e.why = 'stream' THEN 'gpu_kernel_kernel_overhead'
        WHEN e.why = 'meeting' THEN 'gpu_communication_bound'
        WHEN e.why = 'outside' AND target.lane = 'device' THEN 'earlier_window'
        ELSE 'cpu_bound'
    END AS bound_by,
    e.event_id,
    e.name,
    e.collective_id,
    p.start_ns,
    p.time_ns
FROM path_positions AS p
JOIN job_edges AS e ON e.number = p.number
JOIN job_graph_nodes AS target ON target.node = e.target
ORDER BY p.position
