-- One row per host span that takes part in call stacks.
--
-- start_at and end_at are the span's start and end on the line of its thread. 02_threads.sql
-- describes these lines.
CREATE OR REPLACE TEMP VIEW host_spans AS
SELECT
    e.event_id,
    e.start_ns,
    threads.line,
    e.start_ns + threads.shift_ns AS start_at,
    start_at + e.dur_ns AS end_at,
    is_operator(e.cat) AS is_op,
    -- Bits that inherit.py and stacks.py in hta_sql/ingestion read: 1 for an operator, 2 for an
    -- annotation, 4 for a module, 8 for an operator that begins a backward pass, 16 for any span
    -- of a thread that only autograd runs on.
    (
        is_op::TINYINT
        + 2 * (e.cat = 'user_annotation')::TINYINT
        + 4 * (
            e.cat = 'python_function' AND coalesce(prefix(e.name, 'nn.Module: '), false)
        )::TINYINT
        + 8 * (
            is_op AND (
                coalesce(e.fwd_thread_id > 0, false)
                OR coalesce(prefix(e.name, 'autograd::engine::evaluate_function'), false)
                OR e.event_id IN (SELECT event_id FROM forward_ops)
            )
        )::TINYINT
        + 16 * coalesce(threads.has_autograd AND NOT threads.has_steps, false)::TINYINT
    )::TINYINT AS what,
    hash(e.name) AS name_hash
FROM trace_events AS e
JOIN threads
    ON threads.pid IS NOT DISTINCT FROM e.pid
    AND threads.tid IS NOT DISTINCT FROM e.tid
WHERE e.ph = 'X' AND is_host_op(e.cat);
