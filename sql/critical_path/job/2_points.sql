-- The nodes of all ranks on one clock, if collectives show how the ranks' clocks differ. Otherwise
-- a node keeps its rank's time.
CREATE OR REPLACE TEMP TABLE job_points AS
WITH
clocks AS (
    FROM aligned_clocks(job_members)
)
SELECT
    n.node,
    n.rank,
    n.lane,
    n.event_id,
    n.is_start,
    coalesce(aligned_ns(n.at_ns, c.local_ns, c.reference_ns, c.gain), n.at_ns) AS at_ns
FROM job_nodes AS n
LEFT JOIN clocks AS c ON c.rank = n.rank;
