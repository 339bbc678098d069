-- The operators that autograd has numbered, and the profiler's arrows between passes.
--
-- Autograd numbers the operators that it will have to go back through: a forward operator carries
-- the number that comes next, its backward operators carry it too, with the forward thread's id in
-- autograd's own counting. Of the forward operators with a number the last to begin is the one:
-- what it calls already carries the next.
--
--     forward    [aten::linear 7  [aten::t 7]  [aten::addmm 8]  ]
--     backward                          [AddmmBackward0 8]  [TBackward0 7]
--                                        of aten::addmm      of aten::t

CREATE OR REPLACE TEMP TABLE numbered_ops AS
SELECT
    e.event_id,
    threads.thread,
    e.start_ns,
    e.dur_ns,
    e.sequence_number,
    coalesce(e.fwd_thread_id, 0) AS fwd_thread_id
FROM trace_events AS e
JOIN threads
    ON threads.pid IS NOT DISTINCT FROM e.pid
    AND threads.tid IS NOT DISTINCT FROM e.tid
WHERE e.ph = 'X' AND is_operator(e.cat) AND e.sequence_number >= 0;

-- The profiler's own arrows from a forward operator's start to its backward operator's. Where an id
-- is used again, an arrow's end belongs to the last start before it.
CREATE OR REPLACE TEMP TABLE flow_ends AS
SELECT e.id, e.ph, threads.thread, e.start_ns
FROM trace_events AS e
JOIN threads
    ON threads.pid IS NOT DISTINCT FROM e.pid
    AND threads.tid IS NOT DISTINCT FROM e.tid
WHERE e.cat = 'fwdbwd' AND e.ph IN ('s', 'f');
