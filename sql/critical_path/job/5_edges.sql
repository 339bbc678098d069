-- One row per edge of the job's graph: the edges of all ranks and of the meetings between ranks.
-- The job's path and every what-if use these rows.
--
-- The column collective_id is new. All other columns, except `number`, have the same meaning as in
-- job_rank_edges. `number` counts the job's edges from 0.
--
-- If a call has a meeting, two edges replace the edge of the call's own duration, which includes
-- the time that the rank waited. One edge leads from the call's start to the meeting. The other
-- edge leads from the meeting to the call's end.
CREATE OR REPLACE TEMP TABLE job_edges AS
WITH
edges AS (
    SELECT
        e.rank,
        e.source,
        e.target,
        e.edge,
        e.event_id,
        e.bound_by,
        e.why,
        e.is_launch,
        NULL::BIGINT AS collective_id,
        e.delay_ns
    FROM job_rank_edges AS e
    ANTI JOIN job_meetings AS m ON m.first = e.source AND m.last = e.target
    UNION ALL BY NAME
    SELECT
        rank,
        first AS source,
        meeting AS target,
        'sync_dependency'::path_edge AS edge,
        NULL AS event_id,
        NULL AS bound_by,
        'meeting'::path_why AS why,
        false AS is_launch,
        collective_id,
        0 AS delay_ns
    FROM job_meetings
    UNION ALL BY NAME
    SELECT
        m.rank,
        m.meeting AS source,
        m.last AS target,
        'operator'::path_edge AS edge,
        m.event_id,
        'gpu_communication_bound'::path_bound AS bound_by,
        'meeting'::path_why AS why,
        false AS is_launch,
        m.collective_id,
        m.end_ns - m.meeting_ns AS delay_ns
    FROM job_meetings AS m
    JOIN job_rank_edges AS e ON e.source = m.first AND e.target = m.last
)
SELECT row_number() OVER (ORDER BY target, source, edge, why) - 1 AS number, *
FROM edges;
