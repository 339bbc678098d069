-- What is launched in operators, where stacks are too deep to be climbed from call to caller.
--
-- Climbing takes a row for each operator around each launch: where n operators lie in one another,
-- half a square of n. In the order in which operators begin, what is in one follows on it:
--
--     place      1   2   3   4   5
--     1 linear   [=============)            last_place 4
--     2 t            [=)                    last_place 2
--     3 addmm            [=====)            last_place 4
--     4 copy_                [=)            last_place 4
--     5 relu                         [==)   last_place 5
--
-- A span that another one crosses has left the stack, but what begins and ends in its tail is still
-- in it (op_id says so). With all that is in it, such an operator is a block apart, which is in the
-- crossed one and not in what is around it on the stack.
--
-- reads: host_ops, is_operator

-- From how many levels on.
CREATE OR REPLACE MACRO deep_level() AS 512;

CREATE OR REPLACE MACRO deep_ranks(of_jobs, of_ranks) AS TABLE
SELECT o.job, o.rank
FROM host_ops AS o
WHERE (of_jobs IS NULL OR list_contains(of_jobs, o.job))
  AND (of_ranks IS NULL OR list_contains(of_ranks, o.rank))
GROUP BY o.job, o.rank
HAVING max(o.depth) >= deep_level();

-- The operators of these ranks: job, rank, event_id, op_id, place, last_place and block, the place
-- of the block's outermost operator, 0 for what is on no operator's tail.
CREATE OR REPLACE MACRO deep_operators(of_jobs, of_ranks) AS TABLE
WITH
ops AS (
    SELECT
        o.job,
        o.rank,
        o.pid,
        o.tid,
        o.event_id,
        o.op_id,
        o.start_ns,
        o.end_ns,
        o.cut_ns,
        -- An empty span is open until its instant is over.
        coalesce(o.cut_ns, o.end_ns) + (o.end_ns = o.start_ns)::BIGINT AS until_ns
    FROM host_ops AS o
    SEMI JOIN deep_ranks(of_jobs, of_ranks) AS deep
        ON deep.job = o.job AND deep.rank = o.rank
    WHERE is_operator(o.cat)
),
threads AS (
    SELECT job, rank, pid, tid, row_number() OVER (ORDER BY job, rank, pid, tid) AS thread
    FROM (SELECT DISTINCT job, rank, pid, tid FROM ops)
),
in_order AS MATERIALIZED (
    SELECT
        ops.*,
        threads.thread,
        row_number() OVER (
            ORDER BY threads.thread, ops.start_ns, ops.end_ns DESC, ops.event_id
        ) AS place
    FROM ops
    JOIN threads
        ON threads.job = ops.job
        AND threads.rank = ops.rank
        AND threads.pid IS NOT DISTINCT FROM ops.pid
        AND threads.tid IS NOT DISTINCT FROM ops.tid
),
-- Where operators begin, and until when they ask for the last that has: windows, since DuckDB plans
-- ASOF joins as quadratic ones where it expects few rows.
begun AS (
    SELECT thread, start_ns AS at_ns, 1 AS turn, place, NULL::BIGINT AS asking
    FROM in_order
    UNION ALL
    SELECT thread, until_ns AS at_ns, 0 AS turn, NULL AS place, place AS asking
    FROM in_order
),
last_begun AS (
    SELECT
        asking,
        max(place) OVER (
            PARTITION BY thread
            ORDER BY at_ns, turn
            ROWS UNBOUNDED PRECEDING
        ) AS last_place
    FROM begun
),
placed AS MATERIALIZED (
    SELECT o.*, last_begun.last_place
    FROM in_order AS o
    JOIN last_begun ON last_begun.asking = o.place
),
with_tails AS MATERIALIZED (
    SELECT o.place, o.last_place, o.start_ns >= crossed.cut_ns AS on_tail
    FROM placed AS o
    JOIN placed AS crossed
        ON crossed.job = o.job AND crossed.rank = o.rank AND crossed.event_id = o.op_id
),
on_tails AS (
    SELECT place, last_place
    FROM with_tails
    WHERE on_tail
),
-- Blocks lie in one another, too. At one place, ends come before begins.
bounds AS (
    SELECT place AS at_place, 1 AS step FROM on_tails
    UNION ALL
    SELECT last_place + 1 AS at_place, -1 AS step FROM on_tails
),
with_levels AS (
    SELECT
        at_place,
        step,
        sum(step) OVER (ORDER BY at_place, step ROWS UNBOUNDED PRECEDING) AS level
    FROM bounds
),
-- Behind a block's end, the block around it goes on: the last of its level to begin.
with_blocks AS (
    SELECT
        at_place,
        step,
        level,
        last_value(CASE WHEN step = 1 THEN at_place END IGNORE NULLS) OVER (
            PARTITION BY level
            ORDER BY at_place, step
            ROWS UNBOUNDED PRECEDING
        ) AS block
    FROM with_levels
),
blocks AS (
    SELECT
        at_place,
        arg_max(CASE WHEN level = 0 THEN 0 ELSE block END, (step, -level)) AS block
    FROM with_blocks
    GROUP BY at_place
)
SELECT
    o.job,
    o.rank,
    o.event_id,
    o.op_id,
    o.place,
    o.last_place,
    coalesce(
        last_value(blocks.block IGNORE NULLS) OVER (ORDER BY o.place ROWS UNBOUNDED PRECEDING), 0
    ) AS block
FROM placed AS o
LEFT JOIN blocks ON blocks.at_place = o.place;
