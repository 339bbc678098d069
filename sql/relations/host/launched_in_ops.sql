-- Which operators launch activities, and which operators are around these.
--
-- `activities` has job, rank, op_id, start_ns, dur_ns and end_ns. `ops` has job, rank, event_id,
-- op_id and group_number, and contains all operators of these ranks. Returns each operator that
-- launches activities itself as launching_id, with the totals of these activities: one row for
-- itself and one per operator around it. Each row has event_id with its group_number, and its
-- distance, 0 for the operator itself.
--
--     aten::linear  1  [==================)        event_id  launching_id  distance
--     aten::mm      2     [========)               2         2             0
--     launch                [==)                   1         2             1
--
-- An activity is in the subtree of an operator exactly if its launching operator is launching_id in
-- a row with the operator's event_id. Only op_id says which operators are around others. Its chain
-- never leaves a thread.
--
-- reads: launching_operators
CREATE OR REPLACE MACRO launched_in_ops(activities, ops) AS TABLE
WITH RECURSIVE
-- Few operators launch activities, so climbing begins with few rows.
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
