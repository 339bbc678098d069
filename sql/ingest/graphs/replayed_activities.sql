-- One row per GPU activity of a graph launch, in the order in which they ran.
--
-- `said` is the number of new tokens of the launch's step, or else its batch size, if the step's
-- annotation shows it.
SELECT
    l.launch_id,
    e.event_id,
    e.name,
    CASE
        WHEN NOT is_copy_or_memset(e.cat) THEN 'kernel'
        WHEN prefix(lower(e.name), 'memset') OR contains(lower(e.cat), 'memset') THEN 'memset'
        ELSE 'memcpy'
    END AS node_kind,
    e.stream,
    TRY_CAST(json_extract_string(e.args, 'graph node id') AS BIGINT) AS graph_node_id,
    json_extract_string(e.args, 'grid') AS grid
FROM trace_events AS e
JOIN launches AS l ON l.correlation = e.correlation
WHERE e.ph = 'X' AND is_gpu_activity(e.cat) AND contains(l.launch_name, 'GraphLaunch')
ORDER BY l.launch_start_ns, l.launch_id, e.start_ns, e.event_id
