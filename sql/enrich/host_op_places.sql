-- Where each host operation stands: in the call stack of its thread and in the steps.
--
-- Apart from host_ops, so that what is sorted here is narrow.
CREATE OR REPLACE TEMP TABLE host_op_places AS
SELECT
    stack.event_id,
    stack.depth,
    stack.parent_id,
    stack.root_id,
    segments.step
FROM stack
ASOF LEFT JOIN step_segments AS segments ON stack.start_ns >= segments.start_ns;
