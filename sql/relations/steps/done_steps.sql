-- One row per step with GPU activity: the columns of step_spans, and when the step is done.
--
--     done_ns    when the step has ended on the host, and its last activity on the GPU
--     before_ns  when all steps of the rank that began before it are done; NULL: there are none
--
-- `jobs`: jobs to return (NULL: all).
--
-- reads: gpu_activities, step_spans
CREATE OR REPLACE MACRO done_steps(jobs) AS TABLE
WITH
last_ends AS (
    SELECT a.job, a.rank, a.step, max(a.end_ns) AS last_end_ns
    FROM gpu_activities AS a
    WHERE (jobs IS NULL OR list_contains(jobs, a.job))
      AND a.step IS NOT NULL
    GROUP BY a.job, a.rank, a.step
),
ended AS (
    SELECT s.*, greatest(s.start_ns + s.step_ns, e.last_end_ns) AS done_ns
    FROM step_spans(jobs, NULL, NULL) AS s
    JOIN last_ends AS e ON e.job = s.job AND e.rank = s.rank AND e.step = s.step
)
SELECT
    *,
    max(done_ns) OVER (
        PARTITION BY job, rank
        ORDER BY start_ns, step
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS before_ns
FROM ended;
