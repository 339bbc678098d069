-- One row per edge of the job's path, as the table job_path_edges stores it.
--
-- Every row has a `bound_by`. An edge of job_edges without `bound_by` gets one here, by the first
-- of these rules that fits:
--
--     gpu_kernel_launch_overhead  a launch delays an activity
--     gpu_kernel_kernel_overhead  an earlier activity of this or another stream delays an activity
--     gpu_communication_bound     a rank waits at a meeting
--     earlier_window              a device has not finished an earlier window
--     cpu_bound                   any other reason, such as the time between operators
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
        WHEN e.why = 'outside' AND device.node IS NOT NULL THEN 'earlier_window'
        ELSE 'cpu_bound'
    END AS bound_by,
    e.event_id,
    event.name,
    e.collective_id,
    p.start_ns,
    p.time_ns
FROM path_positions AS p
JOIN job_edges AS e ON e.number = p.number
LEFT JOIN (FROM job_graph_nodes WHERE lane = 'device') AS device ON device.node = e.target
LEFT JOIN job_events AS event ON event.rank = e.rank AND event.event_id = e.event_id
ORDER BY p.position
