-- One row per node of the job's graph. The nodes of meetings come last.
CREATE OR REPLACE TEMP TABLE job_graph_nodes AS
SELECT node, rank, lane, is_start, at_ns
FROM job_points
UNION ALL
SELECT DISTINCT meeting AS node, NULL AS rank, 'meeting' AS lane, true AS is_start,
    meeting_ns AS at_ns
FROM job_meetings;
