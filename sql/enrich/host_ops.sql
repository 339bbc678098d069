-- Host operations with their step and their place in the call stack of their thread.
--
-- Both sides have a row for each host operation, in the order of event_id: no need to look for
-- partners.
WITH
operations AS (
    SELECT *
    FROM trace_events AS e
    WHERE e.ph = 'X' AND is_host_op(e.cat)
),
places AS (
    SELECT
        stack.event_id AS place_id,
        stack.step,
        stack.depth,
        stack.parent_id,
        stack.root_id,
        stack.op_id,
        stack.annotation_id,
        stack.module_id,
        thread_callers.caller_id,
        stack.backward_id IS NOT NULL AS is_backward,
        forward_ops.forward_id,
        stack.stack_hash,
        cuts.cut_ns
    FROM stack
    LEFT JOIN forward_ops ON forward_ops.event_id = stack.backward_id
    LEFT JOIN thread_callers ON thread_callers.event_id = stack.event_id
    LEFT JOIN cuts ON cuts.event_id = stack.event_id
    ORDER BY stack.event_id
)
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
    places.module_id,
    places.caller_id,
    places.is_backward,
    places.forward_id,
    places.stack_hash,
    places.cut_ns,
    e.correlation,
    e.external_id,
    e.record_function_id,
    e.sequence_number,
    e.fwd_thread_id,
    e.input_dims,
    e.input_types,
    e.concrete_inputs
FROM operations AS e
POSITIONAL JOIN places
WHERE e.event_id = places.place_id
