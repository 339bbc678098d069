-- Which operators launch activities, and which operators are around those.
--
-- `activities` has job, rank, op_id, start_ns, dur_ns and end_ns; `ops` has job, rank, event_id,
-- op_id and group_number, and all operators of these ranks. Gives each operator that launches
-- activities itself, as launching_id and with these activities' totals, once for itself and once
-- for every operator around it: event_id, with its group_number, and its distance, 0 for itself.
--
--     aten::linear  1  [==================)        event_id  launching_id  distance
--     aten::mm      2     [========)               2         2             0
--     launch                [==)                   1         2             1
--
-- An activity is in the subtree of an operator exactly where its launching operator is launching_id
-- beside it. Who is around whom is said by op_id alone, whose chain never leaves a thread.
--
-- reads: launching_operators
CREATE OR REPLACE MACRO launched_in_ops(activities, ops) AS TABLE
WITH RECURSIVE
-- Few operators launch: the way up begins with few rows.
around AS (
    SELECT
        job,
        rank,
        event_id,
        group_number,
        event_id AS launching_id,
        0 AS distance,
        op_id AS next_id,
        activity_count,
        activity_ns,
        first_start_ns,
        last_end_ns
    FROM launching_operators(activities, ops)
    UNION ALL
    SELECT
        o.job,
        o.rank,
        o.event_id,
        o.group_number,
        around.launching_id,
        around.distance + 1 AS distance,
        o.op_id AS next_id,
        around.activity_count,
        around.activity_ns,
        around.first_start_ns,
        around.last_end_ns
    FROM around
    JOIN query_table(ops) AS o
        ON o.job = around.job AND o.rank = around.rank AND o.event_id = around.next_id
)
SELECT
    job,
    rank,
    event_id,
    group_number,
    launching_id,
    distance,
    activity_count,
    activity_ns,
    first_start_ns,
    last_end_ns
FROM around;
