-- One row per fwd_thread_id, autograd's own number for a thread, and thread that it may stand for.
--
-- The most likely pair comes first. flow_count is the number of the profiler's arrows that connect
-- a pair; pairs with more arrows come first. match_count decides between pairs with equally many
-- arrows. It is the number of sequence numbers that backward operators with this fwd_thread_id
-- carry, and that the thread had used before.
WITH
first_uses AS (
    SELECT thread, sequence_number, min(start_ns) AS start_ns
    FROM numbered_ops
    WHERE fwd_thread_id = 0
    GROUP BY thread, sequence_number
    -- A sequence number that more than 100 threads have used does not identify one of them.
    QUALIFY count(*) OVER (PARTITION BY sequence_number) <= 100
),
last_asked AS (
    SELECT fwd_thread_id, sequence_number, max(start_ns) AS start_ns
    FROM numbered_ops
    WHERE fwd_thread_id > 0
    GROUP BY fwd_thread_id, sequence_number
    -- A sequence number that occurs with more than 100 values of fwd_thread_id identifies none.
    QUALIFY count(*) OVER (PARTITION BY sequence_number) <= 100
),
matches AS (
    SELECT
        backward.fwd_thread_id,
        forward.thread,
        count_if(forward.start_ns < backward.start_ns) AS match_count
    FROM last_asked AS backward
    JOIN first_uses AS forward ON forward.sequence_number = backward.sequence_number
    GROUP BY backward.fwd_thread_id, forward.thread
    HAVING match_count > 0
),
-- One row per instant, because any number of operators may begin at the same time.
backward_at AS (
    SELECT fwd_thread_id, thread, start_ns
    FROM numbered_ops
    WHERE fwd_thread_id > 0
    GROUP BY fwd_thread_id, thread, start_ns
    -- An instant that more than 100 values of fwd_thread_id share identifies none of them.
    QUALIFY count(*) OVER (PARTITION BY thread, start_ns) <= 100
),
flows AS (
    SELECT backward_at.fwd_thread_id, begins.thread, count(*) AS flow_count
    FROM (SELECT * FROM flow_ends WHERE ph = 'f') AS ends
    ASOF JOIN (SELECT * FROM flow_ends WHERE ph = 's') AS begins
        ON begins.id = ends.id AND begins.start_ns <= ends.start_ns
    JOIN backward_at
        ON backward_at.thread = ends.thread AND backward_at.start_ns = ends.start_ns
    GROUP BY backward_at.fwd_thread_id, begins.thread
)
SELECT
    matches.fwd_thread_id,
    matches.thread,
    coalesce(flows.flow_count, 0) AS flow_count,
    matches.match_count
FROM matches
LEFT JOIN flows
    ON flows.fwd_thread_id = matches.fwd_thread_id AND flows.thread = matches.thread
ORDER BY flow_count DESC, matches.match_count DESC, matches.fwd_thread_id, matches.thread
