-- The forward operator of each operator of a backward pass.
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
WHERE e.ph = 'X' AND e.cat IN ('cpu_op', 'Operator') AND e.sequence_number >= 0;

-- Which thread autograd means is not told: the one that has used most of the numbers asked for,
-- of several the first.
CREATE OR REPLACE TEMP TABLE forward_ops AS
WITH
first_uses AS (
    SELECT thread, sequence_number, min(start_ns) AS start_ns
    FROM numbered_ops
    WHERE fwd_thread_id = 0
    GROUP BY thread, sequence_number
),
matches AS (
    SELECT
        backward.fwd_thread_id,
        forward.thread,
        count(*) FILTER (forward.start_ns < backward.start_ns) AS match_count,
        min(forward.start_ns) AS first_ns
    FROM numbered_ops AS backward
    JOIN first_uses AS forward ON forward.sequence_number = backward.sequence_number
    WHERE backward.fwd_thread_id > 0
    GROUP BY backward.fwd_thread_id, forward.thread
),
forward_threads AS (
    SELECT fwd_thread_id, arg_max(thread, (match_count, -first_ns)) AS thread
    FROM matches
    WHERE match_count > 0
    GROUP BY fwd_thread_id
),
asking AS (
    SELECT backward.event_id, backward.start_ns, backward.sequence_number, forward_threads.thread
    FROM numbered_ops AS backward
    JOIN forward_threads ON forward_threads.fwd_thread_id = backward.fwd_thread_id
    WHERE backward.fwd_thread_id > 0
),
-- Of those that begin together the innermost.
candidates AS (
    SELECT
        thread,
        sequence_number,
        start_ns,
        arg_max(event_id, (-dur_ns, event_id)) AS event_id
    FROM numbered_ops
    WHERE fwd_thread_id = 0
    GROUP BY thread, sequence_number, start_ns
)
SELECT asking.event_id, candidates.event_id AS forward_id
FROM asking
ASOF JOIN candidates
    ON candidates.thread = asking.thread
    AND candidates.sequence_number = asking.sequence_number
    AND candidates.start_ns < asking.start_ns;

-- Where operators carry no numbers, the profiler's own flows from forward to backward operators,
-- which are drawn from one's start to the other's.
INSERT INTO forward_ops
WITH
flow_ends AS (
    SELECT e.id, e.ph, threads.thread, e.start_ns
    FROM trace_events AS e
    JOIN threads
        ON threads.pid IS NOT DISTINCT FROM e.pid
        AND threads.tid IS NOT DISTINCT FROM e.tid
    WHERE e.cat = 'fwdbwd' AND e.ph IN ('s', 'f')
),
needed AS (
    SELECT *
    FROM flow_ends
    WHERE NOT EXISTS (FROM forward_ops)
),
ops AS (
    SELECT
        needed.id,
        needed.ph,
        e.start_ns,
        -- The innermost forward operator, the outermost backward one.
        CASE needed.ph
            WHEN 's' THEN arg_max(e.event_id, (-e.dur_ns, e.event_id))
            ELSE arg_max(e.event_id, (e.dur_ns, -e.event_id))
        END AS event_id
    FROM needed
    JOIN trace_events AS e ON e.start_ns = needed.start_ns
    JOIN threads
        ON threads.thread = needed.thread
        AND threads.pid IS NOT DISTINCT FROM e.pid
        AND threads.tid IS NOT DISTINCT FROM e.tid
    WHERE e.ph = 'X' AND e.cat IN ('cpu_op', 'Operator')
    GROUP BY needed.id, needed.ph, e.start_ns
)
SELECT backward.event_id, max(forward.event_id) AS forward_id
FROM ops AS backward
JOIN ops AS forward ON forward.id = backward.id AND forward.ph = 's'
WHERE backward.ph = 'f'
GROUP BY backward.event_id;
