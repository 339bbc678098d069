-- Where each host operation stands: in the call stack of its thread and in the steps.
--
-- Apart from host_ops, so that what is sorted here is narrow.
CREATE OR REPLACE TEMP TABLE host_op_places AS
WITH
cuts AS (
    SELECT event_id, stack_end_ns AS cut_ns
    FROM host_spans
    WHERE stack_end_ns < end_ns
)
SELECT
    stack.event_id,
    stack.depth,
    stack.parent_id,
    stack.root_id,
    stack.op_id,
    stack.annotation_id,
    cuts.cut_ns,
    segments.step
FROM stack
LEFT JOIN cuts ON cuts.event_id = stack.event_id
ASOF LEFT JOIN step_segments AS segments ON stack.start_ns >= segments.start_ns;
