-- One row per activity whose launch is in a Python function of PyTorch's activation checkpointing
-- that repeats a part of the forward pass.
--
-- `activities`: job, rank, event_id and the launch's launch_pid, launch_tid and launch_start_ns.
-- `only_jobs`: the jobs in `activities`; only their functions are read (NULL: all).
--
-- Returns job, rank and event_id. Without Python stacks, there are no rows.
--
-- reads: host_ops
CREATE OR REPLACE MACRO repeated_launches(activities, only_jobs) AS TABLE
WITH
functions AS MATERIALIZED (
    SELECT h.job, h.rank, h.pid, h.tid, h.start_ns, h.end_ns
    FROM host_ops AS h
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, h.job))
      AND h.cat = 'python_function'
      AND contains(h.name, 'torch/utils/checkpoint.py')
      AND regexp_matches(h.name, '(recompute_fn|unpack_hook)$')
),
in_order AS (
    SELECT job, rank, pid, tid, start_ns AS at_ns, end_ns AS until_ns, NULL::BIGINT AS event_id
    FROM functions
    UNION ALL
    SELECT
        a.job,
        a.rank,
        a.launch_pid AS pid,
        a.launch_tid AS tid,
        a.launch_start_ns AS at_ns,
        NULL AS until_ns,
        a.event_id
    FROM query_table(activities) AS a
    SEMI JOIN functions AS f ON f.job = a.job AND f.rank = a.rank
),
reached AS (
    SELECT
        job,
        rank,
        event_id,
        at_ns,
        max(until_ns) OVER (
            PARTITION BY job, rank, pid, tid ORDER BY at_ns, event_id NULLS FIRST
            ROWS UNBOUNDED PRECEDING
        ) AS until_ns
    FROM in_order
)
SELECT job, rank, event_id
FROM reached
WHERE event_id IS NOT NULL
  AND at_ns < until_ns;
