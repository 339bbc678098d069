-- Step times from run to run, and where they changed beyond noise.
--
-- The query groups runs into series. Runs are of the same program if they have the same value of
-- the tag `of_tag`, such as model. A job without the tag is grouped by its name, without the digits
-- and signs at the end: `bert-2026-11-03` and `bert-17` are runs of `bert`. Runs on other GPUs or
-- with another number of ranks form a separate series. A series is in the order of started_at. Runs
-- without a date come last, by name.
--
-- Times and fractions are those that `hta-sql materialize` has stored for job_summary. Runs without
-- steps are listed, but do not count in the search for changes.
--
-- At each run, the query compares two medians of step_ns. before_ns is the median of up to
-- `run_limit` runs before it. after_ns is the median of the run itself and the runs after it, up to
-- `run_limit` runs in all. If either side has fewer than 3 runs, is_change is NULL.
--
--     step_ns     100 101 100  99 101 100 111 109 110 111 110 110
--     before_ns       100 101 100 100 100 100 100 101 109 110 110
--     after_ns    100 100 100 101 109 110 110 110 110 110 110 110
--
-- In this example, is_change is true at the first 111, where diff_ratio is 0.1. is_change is NULL
-- for the first three and the last two runs, and false for the others.
--
-- A run is a change if all three hold:
--   * The medians differ by at least `min_change` of before_ns.
--   * The medians differ by more than the noise, t * error (see below).
--   * The run itself is nearer to after_ns, and the run before it is nearer to before_ns.
--
-- The query measures the noise as the difference from one run to the next. A single change
-- therefore adds little to the noise:
--
--     d     = median over runs of |step_ns - step_ns of the previous run|
--     sigma = 1.4826 / sqrt(2) * d
--     error = sqrt(pi / 2) * sigma * sqrt(1 / n_before + 1 / n_after)
--
-- sigma is the standard deviation of step_ns, and error is the standard error of a difference of
-- two medians of n_before and n_after runs. t is the critical value of Student's t distribution at
-- the two-sided level of 0.1 %. Its degrees of freedom are the number of runs in the series, less
-- 1. t is at least 4.5, since the test is repeated at every run.
--
-- One odd run alone is not a change, because it does not move the median of three or more runs.
--
-- Around a change, several neighbouring runs can meet the three conditions. If they are less than
-- `run_limit` runs apart and all slower, or all faster, only one of them is the change: the run
-- with the largest gain, or the first of them if gains are equal. A large gain means that two
-- medians fit the runs better than one:
--
--     gain = sum of |step_ns - median of both sides| over both sides
--            - sum of |step_ns - before_ns| over the runs before
--            - sum of |step_ns - after_ns| over the other runs
--
-- In a slow drift, each run differs little from its neighbours. A drift shows in drift_ratio and is
-- not a change, unless it is steep.
--
-- regressions compares the newest run with earlier runs in more detail, kernel by kernel.
--
-- since: 0.1
-- grain: job
-- needs: stored_results
-- returns:
--   job                         VARCHAR    -      run of a program
--   run_of                      VARCHAR    -      value of the tag, or start of the job's name
--   device_name                 VARCHAR    -      name of the GPUs; several joined by commas
--   rank_count                  BIGINT     count  ranks with a trace
--   position                    BIGINT     -      place in the series, 1 for its first run
--   started_at                  TIMESTAMP  -      when the run began, UTC; NULL if not known
--   step_ns                     BIGINT     ns     median duration of a step; NULL: no steps
--   busy_frac                   DOUBLE     0-1    share of GPU time with any activity
--   exposed_communication_frac  DOUBLE     0-1    share of GPU time with communication, but no
--                                                 computation
--   idle_frac                   DOUBLE     0-1    share of GPU time without any activity
--   before_ns                   BIGINT     ns     median step_ns of the runs before; NULL: no such
--                                                 run
--   after_ns                    BIGINT     ns     median step_ns of this run and the runs after it
--   diff_ratio                  DOUBLE     -      after_ns / before_ns - 1: 0.03 is 3 % longer
--   drift_ratio                 DOUBLE     -      after_ns / (after_ns of the first run) - 1
--   is_change                   BOOLEAN    -      whether steps changed here; NULL: too few runs or
--                                                 no steps
-- check: position > 0 AND rank_count > 0
-- check: (step_ns IS NULL) = (after_ns IS NULL)
-- check: is_change IS NULL OR (step_ns IS NOT NULL AND before_ns IS NOT NULL)
-- check: is_change IS NOT TRUE OR diff_ratio <> 0
-- reads: job_tags, jobs, stored_job_summary, student_t
CREATE OR REPLACE MACRO job_trend_v1(
    of_tag VARCHAR := 'model',  -- tag with the same value in all runs of a program
    job_contains VARCHAR := NULL,  -- text that the jobs' names contain; case matters [default: all]
    only_jobs VARCHAR[] := NULL,  -- jobs to look at [default: all]
    run_limit INTEGER := 5,  -- maximum number of runs on each side of a change
    min_change DOUBLE := 0.02  -- least relative change of step times, 0.02 for 2 %
) AS TABLE
WITH
runs AS (
    SELECT
        s.job,
        coalesce(t.value, nullif(regexp_replace(s.job, '[^\pL]+$', ''), ''), s.job) AS run_of,
        s.device_name,
        s.rank_count,
        j.started_at,  -- from `jobs`, since a tag may be newer than the stored results
        s.step_p50_ns AS step_ns,
        s.busy_frac,
        s.exposed_communication_frac,
        s.idle_frac
    FROM stored_job_summary AS s
    INNER JOIN jobs AS j ON j.job = s.job
    LEFT JOIN job_tags AS t ON t.job = s.job AND t.tag = of_tag
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, s.job))
      AND (job_contains IS NULL OR contains(s.job, job_contains))
),
placed AS (
    SELECT
        *,
        dense_rank() OVER (ORDER BY run_of, device_name, rank_count) AS series,
        row_number() OVER (
            PARTITION BY run_of, device_name, rank_count ORDER BY started_at NULLS LAST, job
        ) AS position
    FROM runs
),
steps_of_runs AS (
    SELECT
        job,
        series,
        row_number() OVER in_time AS place,
        step_ns,
        lag(step_ns) OVER in_time AS last_ns
    FROM placed
    WHERE step_ns IS NOT NULL
    WINDOW in_time AS (PARTITION BY series ORDER BY position)
),
around AS (
    SELECT
        *,
        count(*) OVER (PARTITION BY series) AS run_count,
        median(abs(step_ns - last_ns)) OVER (PARTITION BY series) AS jump_p50_ns,
        coalesce(list(step_ns) OVER (
            PARTITION BY series ORDER BY place
            ROWS BETWEEN greatest(0, run_limit) PRECEDING AND 1 PRECEDING
        ), []) AS runs_before,
        list(step_ns) OVER (
            PARTITION BY series ORDER BY place
            ROWS BETWEEN CURRENT ROW AND greatest(0, run_limit - 1) FOLLOWING
        ) AS runs_after
    FROM steps_of_runs
),
medians AS (
    SELECT
        *,
        list_median(runs_before) AS before_median,
        list_median(runs_after) AS after_median,
        list_median(list_concat(runs_before, runs_after)) AS both_median,
        least(len(runs_before), len(runs_after)) >= 3 AS is_told,
        greatest(4.5, student_t(run_count - 1)) * sqrt(pi() / 2) * 1.4826 / sqrt(2)
            * jump_p50_ns * sqrt(1 / nullif(len(runs_before), 0) + 1 / len(runs_after))
            AS noise_ns
    FROM around
),
differing AS (
    SELECT
        *,
        CASE
            WHEN is_told
                AND abs(after_median - before_median) > noise_ns
                AND abs(after_median - before_median) >= min_change * before_median
                AND abs(step_ns - after_median) < abs(step_ns - before_median)
                AND abs(last_ns - before_median) < abs(last_ns - after_median)
            THEN sign(after_median - before_median)
        END AS direction,
        list_sum(list_transform(
            list_concat(runs_before, runs_after), lambda x: abs(x - both_median)
        ))
        - list_sum(list_transform(runs_before, lambda x: abs(x - before_median)))
        - list_sum(list_transform(runs_after, lambda x: abs(x - after_median))) AS gain_ns
    FROM medians
),
-- The one with the largest gain nearby; of equal ones, the first.
changes AS (
    SELECT
        *,
        direction IS NOT NULL AND place = -(max({'gain_ns': gain_ns, 'turn': -place}) OVER (
            PARTITION BY series, direction ORDER BY place
            RANGE BETWEEN greatest(0, run_limit - 1) PRECEDING
                AND greatest(0, run_limit - 1) FOLLOWING
        )).turn AS is_change
    FROM differing
)
SELECT
    p.job,
    p.run_of,
    p.device_name,
    p.rank_count,
    p.position,
    p.started_at,
    p.step_ns,
    p.busy_frac,
    p.exposed_communication_frac,
    p.idle_frac,
    round(c.before_median)::BIGINT AS before_ns,
    round(c.after_median)::BIGINT AS after_ns,
    c.after_median / nullif(c.before_median, 0) - 1 AS diff_ratio,
    c.after_median / nullif(first_value(c.after_median IGNORE NULLS) OVER (
        PARTITION BY p.series ORDER BY p.position
        ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
    ), 0) - 1 AS drift_ratio,
    CASE WHEN c.is_told THEN c.is_change END AS is_change
FROM placed AS p
LEFT JOIN changes AS c ON c.job = p.job
ORDER BY p.run_of, p.device_name, p.rank_count, p.position;
