-- Adds one row per backward operator to which an arrow of the profiler leads.
--
-- This file runs only if 05_forward_ops.sql has found no forward operator in the whole trace.
INSERT INTO forward_ops
WITH
-- One row per thread and instant. Any number of arrows and operators may begin at the same time.
ops_at AS (
    SELECT
        threads.thread,
        e.start_ns,
        arg_max(e.event_id, (-e.dur_ns, e.event_id)) AS innermost_id,
        arg_max(e.event_id, (e.dur_ns, -e.event_id)) AS outermost_id
    FROM trace_events AS e
    JOIN threads
        ON threads.pid IS NOT DISTINCT FROM e.pid
        AND threads.tid IS NOT DISTINCT FROM e.tid
    WHERE e.ph = 'X' AND is_operator(e.cat) AND e.start_ns IN (SELECT start_ns FROM flow_ends)
    GROUP BY threads.thread, e.start_ns
),
-- Several operators can begin at an arrow's end. At the end s, the innermost one is the forward
-- operator. At the end f, the outermost one is the backward operator.
ops AS (
    SELECT
        flow_ends.id,
        flow_ends.ph,
        flow_ends.start_ns,
        CASE flow_ends.ph WHEN 's' THEN ops_at.innermost_id ELSE ops_at.outermost_id END AS event_id
    FROM flow_ends
    JOIN ops_at ON ops_at.thread = flow_ends.thread AND ops_at.start_ns = flow_ends.start_ns
)
SELECT backward.event_id, max(forward.event_id) AS forward_id
FROM (SELECT * FROM ops WHERE ph = 'f') AS backward
ASOF JOIN (SELECT * FROM ops WHERE ph = 's') AS forward
    ON forward.id = backward.id AND forward.start_ns <= backward.start_ns
GROUP BY backward.event_id;
