-- One row per host span with a name in the table step_names.
SELECT
    n.number,
    e.name AS step_name,
    n.marked_by,
    e.event_id,
    e.pid,
    e.tid,
    e.start_ns,
    e.dur_ns
FROM trace_events AS e
JOIN step_names AS n ON n.name = e.name AND n.is_python = (e.cat = 'python_function')
WHERE e.ph = 'X' AND is_host_op(e.cat) AND (n.marked_by = '--steps' OR e.cat = 'user_annotation')
