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

-- Where in their order operators launch activities: at the operator that launches, with distance 0,
-- and again wherever the block that it is in has its place, one farther.
--
-- `activities` has job, rank, op_id, start_ns, dur_ns and end_ns; `ops` are rows of deep_operators.
-- Gives job, rank, launching_id, block, place, distance and the totals of the activities.
CREATE OR REPLACE MACRO deep_launches(activities, ops) AS TABLE
WITH RECURSIVE
launching AS (
    SELECT
        job,
        rank,
        op_id,
        count(*) AS activity_count,
        sum(dur_ns) AS activity_ns,
        min(start_ns) AS first_start_ns,
        max(end_ns) AS last_end_ns
    FROM query_table(activities)
    WHERE op_id IS NOT NULL
    GROUP BY job, rank, op_id
),
hangs_on AS (
    SELECT root.place AS block, crossed.block AS next_block, crossed.place AS next_place
    FROM query_table(ops) AS root
    JOIN query_table(ops) AS crossed
        ON crossed.job = root.job AND crossed.rank = root.rank AND crossed.event_id = root.op_id
    WHERE root.place = root.block
),
launches AS (
    SELECT
        o.job,
        o.rank,
        o.event_id AS launching_id,
        o.block,
        o.place,
        0 AS distance,
        launching.activity_count,
        launching.activity_ns,
        launching.first_start_ns,
        launching.last_end_ns
    FROM launching
    JOIN query_table(ops) AS o
        ON o.job = launching.job AND o.rank = launching.rank AND o.event_id = launching.op_id
    UNION ALL
    SELECT
        launches.job,
        launches.rank,
        launches.launching_id,
        hangs_on.next_block AS block,
        hangs_on.next_place AS place,
        launches.distance + 1 AS distance,
        launches.activity_count,
        launches.activity_ns,
        launches.first_start_ns,
        launches.last_end_ns
    FROM launches
    JOIN hangs_on ON hangs_on.block = launches.block
)
SELECT *
FROM launches;

-- For each of these operators, job, rank, event_id and the totals of what is launched in it.
CREATE OR REPLACE MACRO launched_in_deep_ops(launches, ops) AS TABLE
WITH
at_places AS (
    SELECT
        place,
        sum(activity_count) AS activity_count,
        sum(activity_ns) AS activity_ns,
        min(first_start_ns) AS first_start_ns,
        max(last_end_ns) AS last_end_ns
    FROM query_table(launches)
    GROUP BY place
)
SELECT
    o.job,
    o.rank,
    o.event_id,
    sum(l.activity_count) OVER inside AS activity_count,
    sum(l.activity_ns) OVER inside AS activity_ns,
    min(l.first_start_ns) OVER inside AS first_start_ns,
    max(l.last_end_ns) OVER inside AS last_end_ns
FROM query_table(ops) AS o
LEFT JOIN at_places AS l ON l.place = o.place
WINDOW inside AS (
    PARTITION BY o.block
    ORDER BY o.place
    RANGE BETWEEN CURRENT ROW AND o.last_place - o.place FOLLOWING
);

-- For each group of operators, and each operator that launches in one of it: the outermost of the
-- group that it is in, as outermost_id, the totals of what it launches, and as self_ns what of that
-- is the group's own.
--
-- `grouped` has job, rank, event_id and group_number, NULL for operators of no group.
CREATE OR REPLACE MACRO launched_in_deep_groups(launches, ops, grouped) AS TABLE
WITH
numbered AS MATERIALIZED (
    SELECT
        l.*,
        g.group_number AS own_group,
        row_number() OVER (PARTITION BY l.block ORDER BY l.place, l.launching_id) AS number
    FROM query_table(launches) AS l
    LEFT JOIN query_table(grouped) AS g
        ON g.job = l.job AND g.rank = l.rank AND g.event_id = l.launching_id
),
last_numbers AS (
    SELECT block, place, max(number) AS number, count(*) AS launch_count
    FROM numbered
    GROUP BY block, place
),
-- What an operator launches has numbers in a row: a join by places would meet each pair of a block.
with_numbers AS (
    SELECT
        o.job,
        o.rank,
        o.event_id,
        o.block,
        o.place,
        o.last_place,
        coalesce(max(l.number) OVER (
            PARTITION BY o.block
            ORDER BY o.place
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ), 0) AS number_before,
        sum(l.launch_count) OVER (
            PARTITION BY o.block
            ORDER BY o.place
            RANGE BETWEEN CURRENT ROW AND o.last_place - o.place FOLLOWING
        ) AS launch_count
    FROM query_table(ops) AS o
    LEFT JOIN last_numbers AS l ON l.block = o.block AND l.place = o.place
),
in_groups AS (
    SELECT o.*, g.group_number
    FROM with_numbers AS o
    JOIN query_table(grouped) AS g
        ON g.job = o.job AND g.rank = o.rank AND g.event_id = o.event_id
    WHERE g.group_number IS NOT NULL
),
-- Of a block's operators of a group, those in none of the others: no two lie in one another.
outermost AS (
    SELECT *
    FROM in_groups
    QUALIFY place > coalesce(
        max(last_place) OVER (
            PARTITION BY group_number, block
            ORDER BY place
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ),
        0
    )
),
pairs AS (
    SELECT
        group_number,
        event_id,
        block,
        unnest(range(number_before + 1, number_before + launch_count::BIGINT + 1)) AS number
    FROM outermost
    WHERE launch_count > 0
)
SELECT
    pairs.group_number,
    any_value(l.job) AS job,
    any_value(l.rank) AS rank,
    l.launching_id,
    arg_max(pairs.event_id, l.distance) AS outermost_id,
    any_value(l.activity_count) AS activity_count,
    any_value(l.activity_ns) AS activity_ns,
    any_value(l.first_start_ns) AS first_start_ns,
    any_value(l.last_end_ns) AS last_end_ns,
    any_value(l.activity_ns) FILTER (l.own_group = pairs.group_number) AS self_ns
FROM pairs
JOIN numbered AS l ON l.block = pairs.block AND l.number = pairs.number
GROUP BY pairs.group_number, l.launching_id;
