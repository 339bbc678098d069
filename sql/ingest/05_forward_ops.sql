-- One row per backward operator whose forward operator is known: forward_id.
--
-- The forward operator meets these conditions:
--   * It has the same sequence number as the backward operator.
--   * It ran on the thread that the backward operator's fwd_thread_id stands for (forward_threads).
--   * It is the last operator with these two properties to begin before the backward operator.
--
-- 03_numbered_ops.sql has a drawing.
CREATE OR REPLACE TEMP TABLE forward_ops AS
WITH
asking AS (
    SELECT backward.event_id, backward.start_ns, backward.sequence_number, forward_threads.thread
    FROM numbered_ops AS backward
    JOIN forward_threads ON forward_threads.fwd_thread_id = backward.fwd_thread_id
    WHERE backward.fwd_thread_id > 0
),
-- If several operators begin at the same time, the innermost one counts.
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
