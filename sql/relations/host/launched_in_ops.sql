-- One row per pair: an operator that launches activities, and this operator or one around it.
--
-- `activities` has job, rank, op_id, start_ns, dur_ns and end_ns.
-- `ops` has job, rank, event_id, op_id and group_number of all operators of these ranks. The macro
--   only passes group_number on.
--
-- The launching operator is the innermost operator around the launch. Returns job, rank and:
--
--     launching_id            the launching operator
--     event_id, group_number  the launching operator itself, or an operator around it
--     distance                levels from launching_id up to event_id; 0 for launching_id itself
--     activity_count, activity_ns, first_start_ns, last_end_ns
--                             totals of the activities that launching_id launches
--
-- In this drawing, aten::mm (2) is inside aten::linear (1) and launches activities:
--
--     aten::linear  1  [==================)
--     aten::mm      2     [========)
--     launch                [==)
--
--     event_id  launching_id  distance
--     2         2             0
--     1         2             1
--
-- So the rows with an operator's event_id list all launching operators at or inside this operator.
-- The macro finds the operator around an operator by op_id, not by times. Both operators are always
-- on the same thread.
--
-- reads: launching_operators
CREATE OR REPLACE MACRO launched_in_ops(activities, ops) AS TABLE
WITH RECURSIVE
-- Only operators that launch activities are followed outwards. These operators are few.
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
