-- One row per node of the job's ranks, with its time on the reference rank's clock.
--
-- A node is the start or end of an event or of the window. If collectives do not show how a rank's
-- clock differs, the rank's nodes keep the times of the rank's own clock.
CREATE OR REPLACE TEMP TABLE job_points AS
SELECT
    n.node,
    n.rank,
    n.lane,
    n.event_id,
    n.is_start,
    coalesce(aligned_ns(n.at_ns, c.local_ns, c.reference_ns, c.gain), n.at_ns) AS at_ns
FROM job_nodes AS n
LEFT JOIN job_clocks AS c ON c.rank = n.rank;
