-- Which threads may be those that autograd means by its numbers for threads, the likeliest first.
--
-- Those that the flows lead to, then those that have used most of the numbers asked for.
WITH
first_uses AS (
    SELECT thread, sequence_number, min(start_ns) AS start_ns
    FROM numbered_ops
    WHERE fwd_thread_id = 0
    GROUP BY thread, sequence_number
    -- What very many threads have used tells none of them.
    QUALIFY count(*) OVER (PARTITION BY sequence_number) <= 100
),
last_asked AS (
    SELECT fwd_thread_id, sequence_number, max(start_ns) AS start_ns
    FROM numbered_ops
    WHERE fwd_thread_id > 0
    GROUP BY fwd_thread_id, sequence_number
    -- Nor does what is asked for by very many numbers of threads.
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
-- Once for each instant, since any number of operators may begin together.
backward_at AS (
    SELECT fwd_thread_id, thread, start_ns
    FROM numbered_ops
    WHERE fwd_thread_id > 0
    GROUP BY fwd_thread_id, thread, start_ns
    -- Nor does an instant that very many share.
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
