-- Host operations with their step and their place in the call stack of their thread.
SELECT
    e.event_id,
    e.cat,
    e.name,
    e.pid,
    e.tid,
    e.start_ns,
    e.dur_ns,
    places.step,
    places.depth,
    places.parent_id,
    places.root_id,
    places.op_id,
    places.annotation_id,
    places.cut_ns,
    e.correlation,
    e.external_id
FROM trace_events AS e
JOIN host_op_places AS places ON places.event_id = e.event_id
WHERE e.ph = 'X' AND is_host_op(e.cat)
