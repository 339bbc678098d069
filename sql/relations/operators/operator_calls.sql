-- Calls of operators by name, and the calls inside them.
--
-- reads: host_ops, is_operator

-- One row per call of an operator whose name contains a text. If such calls are nested on a thread,
-- only the outermost call has a row.
--
-- `text_of_name`: the text. An empty text finds nothing.
-- `of_jobs`, `of_ranks`: jobs and ranks to read (NULL: all).
-- `of_steps`: steps in which the call begins (NULL: the whole trace).
--
-- Returns job, rank, pid, tid, event_id, op_name, start_ns, end_ns and inside_until_ns. A call
-- inside the operator begins before inside_until_ns.
CREATE OR REPLACE MACRO outermost_operators(text_of_name, of_jobs, of_ranks, of_steps) AS TABLE
WITH
matching AS (
    SELECT
        o.job,
        o.rank,
        o.pid,
        o.tid,
        o.event_id,
        o.name AS op_name,
        o.start_ns,
        o.end_ns,
        -- A span of no duration contains other spans of no duration at its instant.
        coalesce(o.cut_ns, o.end_ns) + (o.end_ns = o.start_ns)::BIGINT AS inside_until_ns
    FROM host_ops AS o
    WHERE (of_jobs IS NULL OR list_contains(of_jobs, o.job))
      AND (of_ranks IS NULL OR list_contains(of_ranks, o.rank))
      AND (of_steps IS NULL OR list_contains(of_steps, o.step))
      AND is_operator(o.cat)
      AND text_of_name <> ''
      AND contains(o.name, text_of_name)
)
SELECT *
FROM matching
QUALIFY start_ns >= coalesce(
    max(inside_until_ns) OVER (
        PARTITION BY job, rank, pid, tid
        ORDER BY start_ns, end_ns DESC, event_id
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ),
    start_ns
);

-- One row per row of `calls`: the last operator of `ops` that begins on the call's thread, before
-- the call or at the same time. The call can be inside this operator, but inside no other operator
-- of `ops`.
--
-- `ops`: rows of outermost_operators.
-- `calls`: job, rank, event_id, call_id, call_pid, call_tid, call_start_ns and call_end_ns. call_id
--   is the event_id of the call. event_id distinguishes rows with the same call_id.
--
-- Returns the columns of `calls`, op_event_id and is_inside. A call has no row if no operator
-- begins before it or with it. is_inside says whether the call is inside the operator. A call that
-- ends after the operator is not inside the operator. is_inside is a column, not a join condition.
-- With a join condition, every call would be compared with every operator.
CREATE OR REPLACE MACRO last_operators_before(ops, calls) AS TABLE
WITH
operators AS (
    SELECT job, rank, pid, tid, event_id, start_ns, end_ns, inside_until_ns
    FROM query_table(ops)
),
threads AS (
    SELECT job, rank, pid, tid, row_number() OVER (ORDER BY job, rank, pid, tid) AS thread
    FROM (SELECT DISTINCT job, rank, pid, tid FROM operators)
),
ops_on_threads AS (
    SELECT
        operators.*,
        threads.thread,
        row_number() OVER (ORDER BY threads.thread, operators.start_ns, operators.event_id)
            AS op_number
    FROM operators
    JOIN threads
        ON threads.job = operators.job
        AND threads.rank = operators.rank
        AND threads.pid IS NOT DISTINCT FROM operators.pid
        AND threads.tid IS NOT DISTINCT FROM operators.tid
),
calls_on_threads AS (
    SELECT c.*, threads.thread
    FROM query_table(calls) AS c
    JOIN threads
        ON threads.job = c.job
        AND threads.rank = c.rank
        AND threads.pid IS NOT DISTINCT FROM c.call_pid
        AND threads.tid IS NOT DISTINCT FROM c.call_tid
),
-- A running maximum finds the operator. An ASOF join could be slower: if DuckDB expects few rows,
-- the join takes quadratic time.
begun AS (
    SELECT thread, start_ns AS at_ns, op_number, NULL::BIGINT AS event_id
    FROM ops_on_threads
    UNION ALL
    SELECT thread, call_start_ns AS at_ns, NULL AS op_number, event_id
    FROM calls_on_threads
),
last_begun AS (
    SELECT
        thread,
        event_id,
        max(op_number) OVER (
            PARTITION BY thread
            ORDER BY at_ns, event_id NULLS FIRST
            ROWS UNBOUNDED PRECEDING
        ) AS op_number
    FROM begun
)
SELECT
    c.* EXCLUDE (thread),
    ops.event_id AS op_event_id,
    c.call_start_ns < ops.inside_until_ns
    AND c.call_end_ns <= ops.end_ns
    -- If two spans have the same start and end, the span with the lower event_id is the outer one.
    AND (
        c.call_start_ns > ops.start_ns
        OR c.call_end_ns < ops.end_ns
        OR c.call_id > ops.event_id
    ) AS is_inside
FROM calls_on_threads AS c
JOIN last_begun
    ON last_begun.thread = c.thread
    AND last_begun.event_id = c.event_id
JOIN ops_on_threads AS ops ON ops.op_number = last_begun.op_number;
