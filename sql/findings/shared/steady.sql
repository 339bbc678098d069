-- One row per rank and step that a finding measures.
--
-- `only_jobs`: jobs to look at (NULL: all).
--
-- Returns job, rank, step, step_ns and is_typical. A rank without steps has one row with NULL for
-- both. Steps without GPU activity are left out. These steps are left out, as long as a later step
-- is left:
--
--   * The first step of a rank. The trace does not show how long its GPU was idle before it.
--   * First steps that are all longer than `warm_up_times` the median of the job's steps: they
--     compile, load and allocate once.
--
-- is_typical is false for the long steps of a job that step_variance reports: a few steps take much
-- longer than the others. Their idle time is not of the other rules of idle time.
--
-- reads: gpu_activities, limit_of, step_spans, traces
CREATE OR REPLACE MACRO shared_steady(only_jobs) AS TABLE
WITH
spans AS MATERIALIZED (
    SELECT s.*
    FROM step_spans(only_jobs, NULL, NULL) AS s
    SEMI JOIN (
        SELECT DISTINCT a.job, a.rank, a.step
        FROM gpu_activities AS a
        WHERE (only_jobs IS NULL OR list_contains(only_jobs, a.job))
          AND a.step IS NOT NULL
    ) AS g ON g.job = s.job AND g.rank = s.rank AND g.step = s.step
),
usual AS (
    SELECT job, median(step_ns) AS usual_ns
    FROM spans
    GROUP BY job
),
marked AS (
    SELECT
        s.job,
        s.rank,
        s.step,
        s.step_ns,
        row_number() OVER in_order = 1
        OR bool_and(s.step_ns > limit_of('all', 'warm_up_times') * u.usual_ns) OVER in_order
            AS is_first
    FROM spans AS s
    JOIN usual AS u ON u.job = s.job
    WINDOW in_order AS (
        PARTITION BY s.job, s.rank ORDER BY s.start_ns, s.step ROWS UNBOUNDED PRECEDING
    )
),
counted AS (
    SELECT *, count_if(NOT is_first) OVER (PARTITION BY job, rank) AS later_count
    FROM marked
),
measured AS (
    SELECT
        t.job,
        t.rank,
        c.step,
        c.step_ns
    FROM (
        SELECT DISTINCT t.job, t.rank
        FROM traces AS t
        WHERE (only_jobs IS NULL OR list_contains(only_jobs, t.job))
    ) AS t
    LEFT JOIN counted AS c ON c.job = t.job AND c.rank = t.rank
    WHERE c.step IS NULL OR NOT c.is_first OR c.later_count = 0
),
varying AS (
    SELECT job, rank, median(step_ns) AS median_ns
    FROM measured
    GROUP BY job, rank
    HAVING count(step) >= limit_of('step_variance', 'least_steps')
       AND quantile_cont(step_ns, 0.95)
           >= limit_of('step_variance', 'least_times') * median(step_ns)
)
SELECT
    m.job,
    m.rank,
    m.step,
    m.step_ns,
    coalesce(m.step_ns <= limit_of('step_variance', 'long_times') * v.median_ns, true)
        AS is_typical
FROM measured AS m
LEFT JOIN varying AS v ON v.job = m.job AND v.rank = m.rank;
