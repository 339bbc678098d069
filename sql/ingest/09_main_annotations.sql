-- One row per annotation of the main thread during which autograd's threads work for this thread.
--
-- If the main thread has annotations `## backward ##`, which autograd makes, these annotations have
-- rows. If the main thread has no such annotation, its steps have rows. Inner annotations come
-- after outer ones.
--
-- The main thread is the thread with the steps. If several threads have steps, no thread is the
-- main thread, and there are no rows.
WITH
main AS (
    SELECT max(thread) AS thread
    FROM threads
    WHERE has_steps
    HAVING count(*) = 1
),
annotations AS (
    SELECT
        e.event_id,
        e.start_ns,
        e.start_ns + e.dur_ns AS end_ns,
        prefix(e.name, '## backward ##') AS is_backward
    FROM trace_events AS e
    JOIN threads
        ON threads.pid IS NOT DISTINCT FROM e.pid
        AND threads.tid IS NOT DISTINCT FROM e.tid
    JOIN main ON main.thread = threads.thread
    WHERE e.ph = 'X'
      AND e.cat = 'user_annotation'
      AND (
          prefix(e.name, '## backward ##')
          OR prefix(e.name, 'ProfilerStep#')
          OR e.event_id IN (SELECT event_id FROM step_marks WHERE marked_by <> 'PyTorch')
      )
)
SELECT event_id, start_ns, end_ns
FROM annotations
WHERE is_backward = (SELECT bool_or(is_backward) FROM annotations)
ORDER BY start_ns, end_ns DESC, event_id
