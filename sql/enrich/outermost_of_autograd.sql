-- The outermost spans of autograd's threads, in the order in which they begin.
SELECT e.event_id, e.start_ns, e.start_ns + e.dur_ns AS end_ns
FROM trace_events AS e
JOIN threads
    ON threads.pid IS NOT DISTINCT FROM e.pid
    AND threads.tid IS NOT DISTINCT FROM e.tid
JOIN stack ON stack.event_id = e.event_id
WHERE threads.has_autograd AND NOT threads.has_steps AND stack.depth = 0
ORDER BY e.start_ns, e.event_id
