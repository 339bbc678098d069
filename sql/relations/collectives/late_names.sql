-- One row per late arrival: which operator, work on the host and machine caused the delay.
--
-- `late`: rows of late_arrivals
-- `jobs`: the jobs of `late` (NULL: all)
--
-- Returns late_id, and
--
--     op_name    operator that launched the activity in event_id; NULL if op_id is NULL
--     host_name  what the host did in the middle of the longest idle gap, on the thread that
--                launched the activity after the gap; NULL unless the cause is host
--     host       machine of the late rank
--
-- reads: gpu_activities, host_at, host_calls, host_ops, machines
CREATE OR REPLACE MACRO late_names(late, jobs) AS TABLE
WITH
gap_ends AS MATERIALIZED (
    SELECT late_id, job, rank, event_id, at_ns
    FROM query_table(late)
    WHERE cause = 'host'
),
instants AS MATERIALIZED (
    SELECT
        g.late_id AS instant_id, g.job, g.rank, a.launch_pid AS pid, a.launch_tid AS tid, g.at_ns
    FROM gpu_activities AS a
    JOIN gap_ends AS g ON g.job = a.job AND g.rank = a.rank AND g.event_id = a.event_id
    WHERE a.launch_id IS NOT NULL
),
host_spans AS NOT MATERIALIZED (
    SELECT o.*
    FROM host_ops AS o
    WHERE (jobs IS NULL OR list_contains(jobs, o.job))
),
launchers AS (
    SELECT DISTINCT job, rank, op_id
    FROM query_table(late)
    WHERE op_id IS NOT NULL
),
op_names AS (
    SELECT o.job, o.rank, o.event_id AS op_id, o.name
    FROM host_calls AS o
    SEMI JOIN launchers AS l ON l.job = o.job AND l.rank = o.rank AND l.op_id = o.event_id
)
SELECT l.late_id, o.name AS op_name, h.name AS host_name, m.host
FROM query_table(late) AS l
LEFT JOIN machines(jobs) AS m ON m.job = l.job AND m.rank = l.rank
LEFT JOIN op_names AS o ON o.job = l.job AND o.rank = l.rank AND o.op_id = l.op_id
LEFT JOIN host_at(instants, host_spans) AS h ON h.instant_id = l.late_id;
