-- One row per rank with launches whose activity the trace lacks.
--
-- `activities`: rows of activity_facts
-- `jobs`, `ranks`: lists of values to select (NULL: all)
--
-- Returns job, rank, and the number of these launches by their place in the recording:
--
--     before_count   before the first launch that has an activity
--     after_count    after the last one
--     between_count  between them
--
-- A launch has an activity if an activity has its correlation id. A launch while its thread
-- captures a graph is left out, since the graph runs the kernel later. Ranks without any GPU
-- activity have no row.
--
-- reads: gpu_activities, host_ops, is_launch_call, is_runtime_call
CREATE OR REPLACE MACRO lost_launches(activities, jobs, ranks) AS TABLE
WITH
launched AS (
    SELECT a.job, a.rank, a.correlation
    FROM gpu_activities AS a
    WHERE (jobs IS NULL OR list_contains(jobs, a.job))
      AND (ranks IS NULL OR list_contains(ranks, a.rank))
),
calls AS (
    SELECT h.job, h.rank, h.pid, h.tid, h.event_id, h.start_ns, 0 AS captures
    FROM host_ops AS h
    ANTI JOIN launched AS a
        ON a.job = h.job AND a.rank = h.rank AND a.correlation = h.correlation
    WHERE (jobs IS NULL OR list_contains(jobs, h.job))
      AND (ranks IS NULL OR list_contains(ranks, h.rank))
      AND is_runtime_call(h.cat)
      AND h.correlation IS NOT NULL
      AND is_launch_call(h.name)
    UNION ALL
    SELECT
        h.job,
        h.rank,
        h.pid,
        h.tid,
        h.event_id,
        h.start_ns,
        CASE WHEN contains(h.name, 'BeginCapture') THEN 1 ELSE -1 END AS captures
    FROM host_ops AS h
    WHERE (jobs IS NULL OR list_contains(jobs, h.job))
      AND (ranks IS NULL OR list_contains(ranks, h.rank))
      AND is_runtime_call(h.cat)
      AND (contains(h.name, 'StreamBeginCapture') OR contains(h.name, 'StreamEndCapture'))
),
captured AS (
    SELECT
        job,
        rank,
        start_ns,
        captures,
        sum(captures) OVER (
            PARTITION BY job, rank, pid, tid
            ORDER BY start_ns, event_id
            ROWS UNBOUNDED PRECEDING
        ) AS open_captures
    FROM calls
)
SELECT
    c.job,
    c.rank,
    count(*) FILTER (c.start_ns < f.first_launch_ns) AS before_count,
    count(*) FILTER (c.start_ns > f.last_launch_ns) AS after_count,
    count(*) FILTER (
        (c.start_ns BETWEEN f.first_launch_ns AND f.last_launch_ns) IS NOT FALSE
    ) AS between_count
FROM captured AS c
JOIN query_table(activities) AS f ON f.job = c.job AND f.rank = c.rank
WHERE c.captures = 0 AND c.open_captures <= 0
GROUP BY c.job, c.rank;
