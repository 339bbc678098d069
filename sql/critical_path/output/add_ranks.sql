-- Adds the nodes, spans and activities of the ranks path_ranks to job_nodes and job_events.
INSERT INTO job_nodes BY NAME
SELECT
    rank,
    node,
    CASE
        WHEN event_id IS NULL THEN 'window'
        WHEN thread IS NULL THEN 'device'
        ELSE 'host'
    END AS lane,
    event_id,
    is_start,
    at_ns
FROM path_nodes;

INSERT INTO job_events BY NAME
SELECT rank, event_id, name
FROM path_spans
UNION ALL BY NAME
SELECT rank, event_id, name, short_name
FROM path_activities;

-- The names of these ranks as a type. When path_edges.sql sorts edges, it moves numbers, not names.
-- Files get the names.
CREATE OR REPLACE TEMP TYPE path_name AS ENUM (
    SELECT DISTINCT name
    FROM job_events
    WHERE list_contains(getvariable('path_ranks'), rank) AND name IS NOT NULL
);

INSERT INTO job_earlier_activities BY NAME
WITH
first_activities AS (
    SELECT rank, min(start_ns) AS start_ns
    FROM path_activities
    GROUP BY rank
)
SELECT a.rank, max(a.end_ns) AS end_ns
FROM gpu_activities AS a
JOIN first_activities AS first ON first.rank = a.rank
WHERE a.job = getvariable('path_job')
  AND list_contains(getvariable('path_ranks'), a.rank)
  AND a.start_ns < first.start_ns
GROUP BY a.rank;
