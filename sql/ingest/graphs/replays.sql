-- One row per graph launch with GPU activities, in order: its place among the host's operations,
-- and the size of its step's batch, if the step's annotation shows it: new tokens, or else
-- sequences.
SELECT
    h.event_id AS launch_id,
    h.pid,
    h.tid,
    h.start_ns,
    h.step,
    h.depth,
    h.root_id,
    h.op_id,
    h.annotation_id,
    h.module_id,
    coalesce(steps.said.token_count, steps.said.batch_size) AS batch_size
FROM host_ops AS h
JOIN (SELECT DISTINCT launch_id FROM launches) AS l ON l.launch_id = h.event_id
LEFT JOIN (
    SELECT step, annotated_load(any_value(step_name)) AS said
    FROM step_marks
    GROUP BY step
) AS steps ON steps.step = h.step
WHERE contains(h.name, 'GraphLaunch')
ORDER BY h.start_ns, h.event_id
