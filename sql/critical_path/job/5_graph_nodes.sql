-- One row per node of the job's graph: the nodes of all ranks, then the nodes of meetings.
--
-- `lane` is the place to which a node belongs: `host`, `device`, `window` (the window's start or
-- end) or `meeting`.
CREATE OR REPLACE TEMP TABLE job_graph_nodes AS
SELECT node, rank, lane, is_start, at_ns
FROM job_points
UNION ALL
SELECT DISTINCT meeting AS node, NULL AS rank, 'meeting' AS lane, true AS is_start,
    meeting_ns AS at_ns
FROM job_meetings;
