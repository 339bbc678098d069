-- One row per operator that launches activities and per block around the operator, with the totals
-- of these activities.
--
-- `activities` has job, rank, op_id, start_ns, dur_ns and end_ns.
-- `ops`: rows of deep_operators.
--
-- A place is an operator's number in the order of starts. Within a block, places show which
-- operator is inside which. deep_stacks.sql explains both, and why each block except block 0 is
-- inside a crossed operator.
--
-- Returns job, rank, launching_id, block, place, distance and the totals. The row with distance 0
-- has the block and place of the launching operator. The row with distance 1 has the block and
-- place of the crossed operator around that block. Each further row goes one block outwards.
--
-- reads: launching_operators
CREATE OR REPLACE MACRO deep_launches(activities, ops) AS TABLE
WITH RECURSIVE
-- One row per block: place (next_place) and block (next_block) of the crossed operator around it.
hangs_on AS (
    SELECT root.place AS block, crossed.block AS next_block, crossed.place AS next_place
    FROM query_table(ops) AS root
    JOIN query_table(ops) AS crossed
        ON crossed.job = root.job AND crossed.rank = root.rank AND crossed.event_id = root.op_id
    WHERE root.place = root.block
),
launches AS (
    SELECT
        job,
        rank,
        event_id AS launching_id,
        block,
        place,
        0 AS distance,
        activity_count,
        activity_ns,
        first_start_ns,
        last_end_ns
    FROM launching_operators(activities, ops)
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

-- One row per operator of `ops`: the totals of the activities that are launched inside it. The
-- totals are NULL if no activity is launched inside the operator.
--
-- `launches`: rows of deep_launches.
-- `ops`: rows of deep_operators.
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

-- One row per group of operators and per operator that launches activities inside the group.
--
-- `launches`: rows of deep_launches.
-- `ops`: rows of deep_operators.
-- `grouped`: job, rank, event_id and group_number of operators. group_number is NULL if the
--   operator has no group.
--
-- Returns group_number, job, rank, launching_id, outermost_id, the totals of the activities that
-- launching_id launches, and self_ns. outermost_id is the group's outermost operator at or around
-- launching_id. self_ns is the time of the activities if launching_id is itself in the group, and
-- else NULL.
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
-- The rows of `numbered` inside an operator have consecutive numbers: the launch_count numbers that
-- follow number_before. A join by places would compare all pairs of rows in a block.
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
-- The operators that are inside no other operator of the same group and block.
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
