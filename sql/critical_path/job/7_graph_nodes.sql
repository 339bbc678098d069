-- One row per node of the job's graph: the nodes of all ranks, then the nodes of meetings.
--
--     lane           where a node belongs: `host`, `device`, `window` (the window's start or end)
--                    or `meeting`
--     not_before_ns  for the start of a GPU activity: since when its rank's devices can work for
--                    the window. NULL for other nodes
CREATE OR REPLACE TEMP TABLE job_graph_nodes AS
SELECT p.node, p.rank, p.lane, p.is_start, p.at_ns, d.begins_ns AS not_before_ns
FROM job_points AS p
LEFT JOIN job_device_begins AS d ON d.rank = p.rank AND p.lane = 'device' AND p.is_start
UNION ALL BY NAME
SELECT DISTINCT meeting AS node, 'meeting'::path_lane AS lane, true AS is_start, meeting_ns AS at_ns
FROM job_meetings;
