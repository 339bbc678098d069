-- Adds the graph of a rank to job_rank_edges and job_nodes.
--
-- path_first_node is the number that the rank's first node gets in the job.
INSERT INTO job_rank_edges BY NAME
SELECT
    getvariable('path_rank') AS rank,
    source + getvariable('path_first_node') AS source,
    target + getvariable('path_first_node') AS target,
    edge,
    event_id,
    name,
    short_name,
    bound_by,
    why,
    is_launch,
    delay_ns
FROM path_edge_rows;

INSERT INTO job_nodes BY NAME
SELECT
    getvariable('path_rank') AS rank,
    node + getvariable('path_first_node') AS node,
    CASE
        WHEN event_id IS NULL THEN 'window'
        WHEN thread IS NULL THEN 'device'
        ELSE 'host'
    END AS lane,
    event_id,
    is_start,
    at_ns
FROM path_nodes;

INSERT INTO job_earlier_activities BY NAME
SELECT a.rank, max(a.end_ns) AS end_ns
FROM gpu_activities AS a
WHERE a.job = getvariable('path_job')
  AND a.rank = getvariable('path_rank')
  AND a.start_ns < (SELECT min(start_ns) FROM path_activities)
GROUP BY a.rank;
