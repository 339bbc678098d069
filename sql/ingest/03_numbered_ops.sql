-- One row per operator with one of autograd's sequence numbers.
--
-- Autograd gives a sequence number to each operator that the backward pass will go through. When a
-- forward operator begins, the profiler records the number that autograd will give next. The
-- operator itself or an operator inside it can take this number. So several forward operators can
-- carry the same number. The last of them to begin has taken the number.
--
-- A backward operator carries the number of its forward operator. It also carries fwd_thread_id,
-- autograd's own number for the forward operator's thread. In rows of forward operators,
-- fwd_thread_id is 0.
--
--     forward    [aten::linear 7  [aten::t 7]  [aten::addmm 8]  ]
--     backward                          [AddmmBackward0 8]  [TBackward0 7]
--                                        of aten::addmm      of aten::t
--
-- The drawing shows operators with their sequence numbers. aten::linear and aten::t carry 7.
-- TBackward0 belongs to aten::t, which began last.

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

-- One row per end of an arrow that the profiler has drawn between operators. An arrow leads from
-- the start of a forward operator (`ph` is s) to the start of its backward operator (`ph` is f). If
-- several arrows have the same id, each end f belongs to the last end s at or before this f.
CREATE OR REPLACE TEMP TABLE flow_ends AS
SELECT e.id, e.ph, threads.thread, e.start_ns
FROM trace_events AS e
JOIN threads
    ON threads.pid IS NOT DISTINCT FROM e.pid
    AND threads.tid IS NOT DISTINCT FROM e.tid
WHERE e.cat = 'fwdbwd' AND e.ph IN ('s', 'f');
