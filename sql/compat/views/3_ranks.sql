-- One row per rank: base_ns, which every time stamp contains; first_ns, the first event of all
-- ranks; and until_ns, at which the part that HTA keeps ends (NULL: never).
--
-- HTA drops the last profiler step if there are two steps or more. The part then ends where the
-- last step of the rank begins.
--
-- Variables:
--   * hta_last_step: whether the last step is kept
--   * hta_kept_ranks: the ranks whose traces were given
CREATE OR REPLACE TABLE hta_ranks AS
WITH
steps AS (
    SELECT h.rank, step_number(h.name) AS step, h.start_ns
    FROM recorded_host_ops AS h
    WHERE prefix(h.name, 'ProfilerStep')
      AND step_number(h.name) IS NOT NULL
      AND h.cat <> 'python_function'
),
last_steps AS (
    SELECT rank, max(start_ns) AS until_ns
    FROM steps
    WHERE NOT getvariable('hta_last_step')
      AND (SELECT count(DISTINCT step) FROM steps) > 1
    GROUP BY rank
),
starts AS (
    SELECT e.rank, min(e.start_ns) AS start_ns
    FROM recorded_events AS e
    WHERE e.dur_ns IS NOT NULL AND e.cat <> 'Trace'
    GROUP BY e.rank
)
SELECT
    t.rank,
    coalesce(t.base_ns, 0) AS base_ns,
    min(hta_start(s.start_ns, coalesce(t.base_ns, 0))) OVER () AS first_ns,
    l.until_ns
FROM traces AS t
LEFT JOIN starts AS s ON s.rank = t.rank
LEFT JOIN last_steps AS l ON l.rank = t.rank
WHERE list_contains(getvariable('hta_kept_ranks'), t.rank)
ORDER BY t.rank;
