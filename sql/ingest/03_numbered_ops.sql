-- The operators that autograd has numbered, and the profiler's arrows between passes.
--
-- Autograd numbers the operators that the backward pass will go through. A forward operator carries
-- the number that comes next. Its backward operators carry the same number, and autograd's own
-- number for the forward thread. Several forward operators can carry the same number. The last one
-- to begin is meant, because the operators that it calls already carry the number after it.
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

-- The profiler's own arrows, each from the start of a forward operator to the start of its backward
-- operator. If an id is used again, the end of an arrow belongs to the last start up to then.
CREATE OR REPLACE TEMP TABLE flow_ends AS
SELECT e.id, e.ph, threads.thread, e.start_ns
FROM trace_events AS e
JOIN threads
    ON threads.pid IS NOT DISTINCT FROM e.pid
    AND threads.tid IS NOT DISTINCT FROM e.tid
WHERE e.cat = 'fwdbwd' AND e.ph IN ('s', 'f');
