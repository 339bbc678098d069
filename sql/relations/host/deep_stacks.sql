-- The order of operators in deep stacks, which shows which operators are inside which.
--
-- For stacks that are not deep, launched_in_ops climbs from each launch through all operators
-- around the launch. For n nested operators, climbing takes up to n squared / 2 rows. For deep
-- stacks, the macros number the operators in the order in which they begin (`place`). An operator
-- is followed directly by the operators inside it, which have the places from `place` + 1 to
-- `last_place`:
--
--     place      1   2   3   4   5
--     1 linear   [=============)            last_place 4
--     2 t            [=)                    last_place 2
--     3 addmm            [=====)            last_place 4
--     4 copy_                [=)            last_place 4
--     5 relu                         [==)   last_place 5
--
-- If another span crosses an operator, the crossed operator leaves the stack at its cut (cut_ns).
-- The time from the cut to the crossed operator's end is its tail. An operator that begins and
-- ends in the tail is still inside the crossed operator, as op_id says. The operator in the tail
-- and everything inside it are a block of their own. So `place` and `last_place` show nesting only
-- within a block.
--
-- reads: host_ops, is_operator

-- A rank counts as deep if the `depth` of one of its operations reaches this number.
CREATE OR REPLACE MACRO deep_level() AS 512;

-- One row per deep rank.
--
-- `of_jobs`, `of_ranks`: jobs and ranks to select (NULL: all).

CREATE OR REPLACE MACRO deep_ranks(of_jobs, of_ranks) AS TABLE
SELECT o.job, o.rank
FROM host_ops AS o
WHERE (of_jobs IS NULL OR list_contains(of_jobs, o.job))
  AND (of_ranks IS NULL OR list_contains(of_ranks, o.rank))
GROUP BY o.job, o.rank
HAVING max(o.depth) >= deep_level();

-- One row per operator of the deep ranks: job, rank, event_id, op_id, place, last_place and block.
--
-- `block` is the `place` of the block's outermost operator. If neither the operator nor an operator
-- around it is in a tail, `block` is 0.
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
        -- A span of no duration is open until its instant is over.
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
-- last_place of each operator: the last operator that begins before its until_ns. Starts and ends
-- are sorted together, and a running maximum finds the place. An ASOF join could be slower: if
-- DuckDB expects few rows, the join takes quadratic time.
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
-- Where blocks begin (step 1) and end (step -1). A block can be inside another block. At the same
-- place, ends come before starts.
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
-- `level` is the number of blocks that are open after the start or end. `block` is the innermost of
-- the open blocks: the last block that began on this level.
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
