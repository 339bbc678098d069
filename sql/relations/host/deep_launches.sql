-- Where in their order operators launch activities: at the operator that launches, with distance 0,
-- and again wherever the block that it is in has its place, one farther.
--
-- `activities` has job, rank, op_id, start_ns, dur_ns and end_ns; `ops` are rows of deep_operators.
-- Gives job, rank, launching_id, block, place, distance and the totals of the activities.
CREATE OR REPLACE MACRO deep_launches(activities, ops) AS TABLE
WITH RECURSIVE
launching AS (
    FROM launched_by_ops(activities)
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
