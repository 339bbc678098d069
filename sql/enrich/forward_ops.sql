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

-- Which thread autograd means is not told, but each of its numbers is one thread. Those that the
-- flows lead to come first, then those that have used most of the numbers asked for; where two
-- would do as well, it is neither.
CREATE OR REPLACE TEMP TABLE forward_threads AS
WITH RECURSIVE
first_uses AS (
    SELECT thread, sequence_number, min(start_ns) AS start_ns
    FROM numbered_ops
    WHERE fwd_thread_id = 0
    GROUP BY thread, sequence_number
),
matches AS (
    SELECT backward.fwd_thread_id, forward.thread, count(*) AS match_count
    FROM numbered_ops AS backward
    JOIN first_uses AS forward
        ON forward.sequence_number = backward.sequence_number
        AND forward.start_ns < backward.start_ns
    WHERE backward.fwd_thread_id > 0
    GROUP BY backward.fwd_thread_id, forward.thread
),
flows AS (
    SELECT backward.fwd_thread_id, begins.thread, count(*) AS flow_count
    FROM (SELECT * FROM flow_ends WHERE ph = 'f') AS ends
    ASOF JOIN (SELECT * FROM flow_ends WHERE ph = 's') AS begins
        ON begins.id = ends.id AND begins.start_ns <= ends.start_ns
    JOIN (SELECT DISTINCT fwd_thread_id, thread, start_ns FROM numbered_ops) AS backward
        ON backward.thread = ends.thread AND backward.start_ns = ends.start_ns
    WHERE backward.fwd_thread_id > 0
    GROUP BY backward.fwd_thread_id, begins.thread
),
pairs AS (
    SELECT
        matches.fwd_thread_id,
        matches.thread,
        coalesce(flows.flow_count, 0) AS flow_count,
        matches.match_count
    FROM matches
    LEFT JOIN flows
        ON flows.fwd_thread_id = matches.fwd_thread_id AND flows.thread = matches.thread
),
in_turn AS MATERIALIZED (
    SELECT
        fwd_thread_id,
        thread,
        row_number() OVER (
            ORDER BY flow_count DESC, match_count DESC, fwd_thread_id, thread
        ) AS turn,
        list(thread) OVER (PARTITION BY fwd_thread_id, flow_count, match_count) AS as_good
    FROM pairs
),
decided AS (
    SELECT
        0::BIGINT AS turn,
        NULL::BIGINT AS fwd_thread_id,
        NULL::BIGINT AS thread,
        []::BIGINT[] AS decided_ids,
        []::BIGINT[] AS taken_threads
    UNION ALL
    SELECT
        turn,
        CASE WHEN is_clear THEN fwd_thread_id END AS fwd_thread_id,
        CASE WHEN is_clear THEN thread END AS thread,
        CASE WHEN is_open THEN list_append(decided_ids, fwd_thread_id) ELSE decided_ids END
            AS decided_ids,
        CASE WHEN is_clear THEN list_append(taken_threads, thread) ELSE taken_threads END
            AS taken_threads
    FROM (
        SELECT
            in_turn.turn,
            in_turn.fwd_thread_id,
            in_turn.thread,
            before.decided_ids,
            before.taken_threads,
            NOT list_contains(before.decided_ids, in_turn.fwd_thread_id)
                AND NOT list_contains(before.taken_threads, in_turn.thread) AS is_open,
            is_open
                AND list_has_all(list_append(before.taken_threads, in_turn.thread), in_turn.as_good)
                AS is_clear
        FROM decided AS before
        JOIN in_turn ON in_turn.turn = before.turn + 1
    )
)
SELECT fwd_thread_id, thread
FROM decided
WHERE fwd_thread_id IS NOT NULL;

CREATE OR REPLACE TEMP TABLE forward_ops AS
WITH
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

-- Where operators carry no numbers, the flows.
INSERT INTO forward_ops
WITH
needed AS (
    SELECT *
    FROM flow_ends
    WHERE NOT EXISTS (FROM forward_ops)
),
-- Once for each instant: any number of arrows, and of operators, may begin together.
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
    WHERE e.ph = 'X' AND is_operator(e.cat) AND e.start_ns IN (SELECT start_ns FROM needed)
    GROUP BY threads.thread, e.start_ns
),
-- The innermost forward operator, the outermost backward one.
ops AS (
    SELECT
        needed.id,
        needed.ph,
        needed.start_ns,
        CASE needed.ph WHEN 's' THEN ops_at.innermost_id ELSE ops_at.outermost_id END AS event_id
    FROM needed
    JOIN ops_at ON ops_at.thread = needed.thread AND ops_at.start_ns = needed.start_ns
)
SELECT backward.event_id, max(forward.event_id) AS forward_id
FROM (SELECT * FROM ops WHERE ph = 'f') AS backward
ASOF JOIN (SELECT * FROM ops WHERE ph = 's') AS forward
    ON forward.id = backward.id AND forward.start_ns <= backward.start_ns
GROUP BY backward.event_id;
