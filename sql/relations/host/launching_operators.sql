-- One row per operator that launches activities, with the totals of these activities.
--
-- The launching operator is the innermost operator around the launch.
--
-- `activities` has job, rank, op_id, start_ns, dur_ns and end_ns.
-- `ops` has job, rank and event_id.
--
-- Returns the columns of `ops`, and activity_count, activity_ns, first_start_ns and last_end_ns.
CREATE OR REPLACE MACRO launching_operators(activities, ops) AS TABLE
WITH
totals AS (
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
)
SELECT o.*, t.activity_count, t.activity_ns, t.first_start_ns, t.last_end_ns
FROM totals AS t
JOIN query_table(ops) AS o
    ON o.job = t.job AND o.rank = t.rank AND o.event_id = t.op_id;
