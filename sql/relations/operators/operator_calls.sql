-- Calls of operators by name, and the calls inside them.
--
-- reads: host_ops, is_operator

-- The operators with this text in their name that are not inside another such operator on their
-- thread.
--
-- An empty text finds nothing. `of_jobs`, `of_ranks`, `of_steps`: those to look at (NULL: all).
-- Returns job, rank, pid, tid, event_id, op_name, start_ns, end_ns and inside_until_ns: calls that
-- begin before this are inside.
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
        -- An empty span contains other empty spans at its instant.
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

-- For each call, the last of these operators to begin before it on its thread. The call can be
-- inside no other one.
--
-- `ops` are rows of outermost_operators. `calls` has job, rank, event_id, call_id, call_pid,
-- call_tid, call_start_ns and call_end_ns. call_id is the event of the call. event_id distinguishes
-- rows of the same call. Returns the columns of `calls`, op_event_id and is_inside, whether the
-- call is inside that operator. is_inside is a column and not a condition: with a condition, every
-- call would be compared with every operator. A call that ends after the operator is not inside it.
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
-- A running maximum finds the operator. DuckDB plans an ASOF join as a quadratic one if it expects
-- few rows.
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
    -- Of two equal spans, the lower event_id is the outer one.
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
