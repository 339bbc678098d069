-- One row per rank and step that a finding measures.
--
-- `only_jobs`: jobs to look at (NULL: all).
--
-- Returns job, rank and
--
--     step        NULL: the rank has no steps. Then it has one row, and all times are NULL
--     step_ns     duration of the step on the host
--     from_ns     begin of the step: when the steps before it are done. A ProfilerStep can begin
--                 later: when it begins on the host
--     until_ns    end of the step: when it is done, as in done_steps
--     whole_ns    step_ns of a ProfilerStep. The annotations of servers do not touch, and the GPU
--                 may go on after them: of other steps, until_ns - from_ns
--     is_typical  false for the long steps of a job that step_variance reports: a few steps take
--                 much longer than the others. Their idle time is not of the other rules of idle
--                 time
--
-- Steps without GPU activity are left out. These steps are left out, as long as a later step is
-- left:
--
--   * The first step of a rank. The trace does not show how long its GPU was idle before it.
--   * First steps that are all longer than `warm_up_times` the median of the job's steps: they
--     compile, load and allocate once.
--
-- reads: done_steps, limit_of, traces
CREATE OR REPLACE MACRO shared_steady(only_jobs) AS TABLE
WITH
spans AS MATERIALIZED (
    SELECT
        *,
        CASE
            WHEN marked_by = 'PyTorch' THEN greatest(start_ns, before_ns)
            ELSE coalesce(before_ns, start_ns)
        END AS from_ns,
        greatest(from_ns, done_ns) AS until_ns,
        CASE WHEN marked_by = 'PyTorch' THEN step_ns ELSE until_ns - from_ns END AS whole_ns
    FROM done_steps(only_jobs)
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
        s.whole_ns,
        s.from_ns,
        s.until_ns,
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
        c.step_ns,
        c.whole_ns,
        c.from_ns,
        c.until_ns
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
    m.whole_ns,
    m.from_ns,
    m.until_ns,
    coalesce(m.step_ns <= limit_of('step_variance', 'long_times') * v.median_ns, true)
        AS is_typical
FROM measured AS m
LEFT JOIN varying AS v ON v.job = m.job AND v.rank = m.rank;
