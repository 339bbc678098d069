-- The spans that take part in call stacks. Their times are those of one line, on which threads
-- follow each other.
CREATE OR REPLACE TEMP TABLE host_spans AS
SELECT
    e.event_id,
    threads.thread::INTEGER AS thread,
    e.start_ns + threads.shift_ns AS start_at,
    start_at + e.dur_ns AS end_at,
    end_at AS stack_end_at,
    is_operator(e.cat) AS is_op,
    e.cat = 'user_annotation' AS is_annotation,
    e.cat = 'python_function' AND coalesce(prefix(e.name, 'nn.Module: '), false) AS is_module,
    is_op AND (
        coalesce(e.fwd_thread_id > 0, false)
        OR coalesce(prefix(e.name, 'autograd::engine::evaluate_function'), false)
        OR e.event_id IN (SELECT event_id FROM forward_ops)
    ) AS begins_backward,
    hash(e.name) AS name_hash
FROM trace_events AS e
JOIN threads
    ON threads.pid IS NOT DISTINCT FROM e.pid
    AND threads.tid IS NOT DISTINCT FROM e.tid
WHERE e.ph = 'X' AND is_host_op(e.cat);

-- Where crossed spans leave the stack: nesting.sql finds that out, where any are.
CREATE OR REPLACE TEMP TABLE cuts (event_id BIGINT, cut_ns BIGINT);
