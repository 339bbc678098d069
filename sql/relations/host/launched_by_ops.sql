-- What each operator launches itself: job, rank, op_id and the totals of these activities.
--
-- `activities` has job, rank, op_id, start_ns, dur_ns and end_ns.
CREATE OR REPLACE MACRO launched_by_ops(activities) AS TABLE
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
GROUP BY job, rank, op_id;
