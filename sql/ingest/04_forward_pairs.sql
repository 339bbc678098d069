-- One row per fwd_thread_id and thread that this fwd_thread_id may stand for.
--
-- fwd_thread_id is autograd's own number for the thread of a forward operator. The trace does not
-- record which thread has this number.
--
--     flow_count   number of the profiler's arrows from the thread to backward operators with
--                  this fwd_thread_id
--     match_count  number of sequence numbers that backward operators with this fwd_thread_id
--                  carry, and that the thread had used before
--
-- The most likely pair comes first: the pair with the highest flow_count. If these are equal, the
-- pair with the highest match_count comes first.
WITH
first_uses AS (
    SELECT thread, sequence_number, min(start_ns) AS start_ns
    FROM numbered_ops
    WHERE fwd_thread_id = 0
    GROUP BY thread, sequence_number
    -- A sequence number that more than 100 threads have used identifies no thread.
    QUALIFY count(*) OVER (PARTITION BY sequence_number) <= 100
),
last_asked AS (
    SELECT fwd_thread_id, sequence_number, max(start_ns) AS start_ns
    FROM numbered_ops
    WHERE fwd_thread_id > 0
    GROUP BY fwd_thread_id, sequence_number
    -- A sequence number that occurs with more than 100 values of fwd_thread_id identifies no value.
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
-- One row per instant at which backward operators begin on a thread. Any number of operators may
-- begin at the same time.
backward_at AS (
    SELECT fwd_thread_id, thread, start_ns
    FROM numbered_ops
    WHERE fwd_thread_id > 0
    GROUP BY fwd_thread_id, thread, start_ns
    -- An instant that more than 100 values of fwd_thread_id share identifies no value.
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
