-- What each rank or job of the archive has that a query may need.
--
-- The header key `needs` of a query names what the query needs. A query has no rows for a job that
-- lacks one of its needs. Each macro returns job, rank and need: one row for each need that is met.
-- rank is NULL if the whole job meets the need.
--
-- `jobs`, `ranks`: lists of values to select (NULL: all)
--
-- reads: attachments, collective_operation, critical_paths, events, gpu_activities, host_ops,
--   is_operator, is_point_to_point, step_marks, step_number, stored_results, traces

-- Needs that GPU activities meet.
CREATE OR REPLACE MACRO needs_of_activities(jobs, ranks) AS TABLE
WITH
names AS (
    SELECT
        a.job,
        a.rank,
        CASE
            WHEN a.collective_name <> '' AND a.kind = 'communication' THEN a.collective_name
        END AS collective_name,
        bool_or(a.launch_id IS NOT NULL) AS has_launches,
        bool_or(a.kind = 'memory') AS has_copies,
        bool_or(a.kind = 'communication') AS has_communication
    FROM gpu_activities AS a
    WHERE (jobs IS NULL OR list_contains(jobs, a.job))
      AND (ranks IS NULL OR list_contains(ranks, a.rank))
    GROUP BY ALL
),
found AS (
    SELECT
        job,
        rank,
        true AS gpu_activities,
        bool_or(has_launches) AS launches,
        bool_or(has_copies) AS copies,
        bool_or(has_communication) AS communication,
        bool_or(collective_name IS NOT NULL) AS collectives,
        bool_or(is_point_to_point(collective_operation(collective_name))) AS messages,
        bool_or(collective_operation(collective_name) = 'all_to_all') AS all_to_alls
    FROM names
    GROUP BY job, rank
)
SELECT job, rank, need
FROM (
    UNPIVOT found
    ON gpu_activities, launches, copies, communication, collectives, messages, all_to_alls
    INTO NAME need VALUE is_met
)
WHERE is_met;

-- Needs that operations of the host meet.
CREATE OR REPLACE MACRO needs_of_host_ops(jobs, ranks) AS TABLE
WITH
found AS (
    SELECT
        h.job,
        h.rank,
        true AS host_ops,
        bool_or(is_operator(h.cat)) AS operators,
        bool_or(h.cat = 'user_annotation') AS host_annotations,
        bool_or(
            prefix(h.name, 'ProfilerStep') AND step_number(h.name) IS NOT NULL
            AND h.cat <> 'python_function'
        ) AS steps,
        bool_or(is_operator(h.cat) AND h.input_dims IS NOT NULL) AS shapes,
        bool_or(h.cat = 'python_function' AND prefix(h.name, 'nn.Module: ')) AS nn_modules
    FROM host_ops AS h
    WHERE (jobs IS NULL OR list_contains(jobs, h.job))
      AND (ranks IS NULL OR list_contains(ranks, h.rank))
    GROUP BY h.job, h.rank
)
SELECT job, rank, need
FROM (
    UNPIVOT found
    ON host_ops, operators, host_annotations, steps, shapes, nn_modules
    INTO NAME need VALUE is_met
)
WHERE is_met
UNION
SELECT m.job, m.rank, 'steps' AS need
FROM step_marks AS m
WHERE (jobs IS NULL OR list_contains(jobs, m.job))
  AND (ranks IS NULL OR list_contains(ranks, m.rank));

-- Needs that only the table events meets.
CREATE OR REPLACE MACRO needs_of_events(jobs, ranks) AS TABLE
WITH
found AS (
    SELECT
        e.job,
        e.rank,
        true AS events,
        bool_or(e.cat = 'gpu_user_annotation') AS gpu_annotations,
        bool_or(e.cat = 'cuda_profiler_range') AS counters,
        bool_or(e.name = '[memory]' AND e.ph = 'i') AS memory_instants
    FROM events AS e
    WHERE (jobs IS NULL OR list_contains(jobs, e.job))
      AND (ranks IS NULL OR list_contains(ranks, e.rank))
    GROUP BY e.job, e.rank
)
SELECT job, rank, need
FROM (
    UNPIVOT found
    ON events, gpu_annotations, counters, memory_instants
    INTO NAME need VALUE is_met
)
WHERE is_met;

-- Needs that the archive meets beside the events of its traces.
CREATE OR REPLACE MACRO needs_of_archive(jobs, ranks) AS TABLE
WITH
traced AS (
    SELECT DISTINCT t.job, t.rank
    FROM traces AS t
),
-- Runs with which the queries of earlier runs compare a run, if they were earlier.
alike AS (
    SELECT
        t.job,
        string_agg(DISTINCT t.device_name, ', ' ORDER BY t.device_name) AS gpu,
        max(t.world_size) AS world_size
    FROM traces AS t
    GROUP BY t.job
),
found AS (
    SELECT job, rank, 'traces' AS need FROM traced
    UNION ALL
    SELECT job, NULL AS rank, 'ranks' AS need FROM traced GROUP BY job HAVING count(*) > 1
    UNION ALL
    SELECT job, NULL AS rank, 'earlier_runs' AS need
    FROM alike
    QUALIFY count(*) OVER (PARTITION BY gpu, world_size) > 1
    UNION ALL
    SELECT a.job, a.rank, a.kind AS need FROM attachments AS a
    UNION ALL
    SELECT p.job, unnest(p.ranks) AS rank, 'critical_paths' AS need FROM critical_paths AS p
    UNION ALL
    SELECT s.job, NULL AS rank, 'stored_results' AS need FROM stored_results AS s
)
SELECT DISTINCT job, rank, need
FROM found
WHERE (jobs IS NULL OR list_contains(jobs, job))
  AND (ranks IS NULL OR rank IS NULL OR list_contains(ranks, rank));
