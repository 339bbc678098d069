-- Runs of consecutive steps that are alike in kind, load and duration: where to measure.
--
-- Warm-up, a change of the batch, or a checkpoint makes a step unlike its neighbours. Figures over
-- all steps then describe none of them. This query finds runs without such steps. To measure one of
-- them, give its `steps` to a query as `only_steps`.
--
-- Steps are of a kind if their annotations differ at most in numbers, and say the same phase and
-- batch size. Prefills are of a kind if also the power of two below their number of tokens is the
-- same. A step is steady if its duration differs from the median of its kind by at most a quarter.
-- On several ranks, a step has the longest duration of the ranks, and the name that it has on the
-- first rank.
--
--     step        0  1  2  3  4  5  6  7
--     kind        P  D  D  D  D  P  D  D      P prefill, D decode
--     is steady   y  n  y  y  y  y  y  y
--     run                [=====]     [==]     of D; position 1 and 2
--
-- A run has at least 2 steps. The first by position takes most time.
--
-- since: 0.1
-- grain: job, position
-- needs: steps
-- returns:
--   job          VARCHAR   -      run of a program
--   position     BIGINT    -      1 for the run that takes most time, then 2, ...
--   first_step   BIGINT    -      first step of the run
--   last_step    BIGINT    -      last step of the run
--   step_count   BIGINT    count  number of its steps
--   step_kind    VARCHAR   -      name of their annotation, with 0 for numbers
--   phase        VARCHAR   -      prefill, decode, mixed or diffusion; NULL: not shown
--   batch_size   BIGINT    -      requests in each step; NULL: not shown
--   step_p50_ns  BIGINT    ns     median duration of the steps
--   spread_frac  DOUBLE    0-1    (longest - shortest duration) / median
--   total_ns     BIGINT    ns     sum of their durations
--   time_frac    DOUBLE    0-1    total_ns / time of all steps of the job
--   steps        BIGINT[]  -      the steps, in order
-- check: step_count >= 2 AND step_count = len(steps)
-- check: steps[1] = first_step AND steps[-1] = last_step
-- check: total_ns >= 0 AND spread_frac >= 0
-- check: time_frac BETWEEN 0 AND 1
-- reads: annotated_load, step_spans
CREATE OR REPLACE MACRO steady_steps_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to look at [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to look at [default: all]
    only_steps BIGINT[] := NULL  -- steps to look at [default: all]
) AS TABLE
WITH
of_job AS (
    SELECT
        job,
        step,
        min_by(step_name, rank) AS step_name,
        min(start_ns) AS start_ns,
        max(step_ns) AS step_ns
    FROM step_spans(only_jobs, only_ranks, only_steps)
    GROUP BY job, step
),
-- A name is read once.
named AS (
    SELECT
        step_name,
        regexp_replace(step_name, '\d+', '0', 'g') AS step_kind,
        annotated_load(step_name) AS said
    FROM (SELECT DISTINCT step_name FROM of_job)
),
kinds AS (
    SELECT
        s.job,
        s.step,
        s.step_ns,
        n.step_kind,
        n.said.phase AS phase,
        n.said.batch_size AS batch_size,
        CASE
            WHEN n.said.phase = 'prefill' THEN floor(log2(nullif(n.said.token_count, 0)))
        END AS token_class,
        row_number() OVER (PARTITION BY s.job ORDER BY s.start_ns, s.step) AS place
    FROM of_job AS s
    JOIN named AS n ON n.step_name IS NOT DISTINCT FROM s.step_name
),
judged AS (
    SELECT
        *,
        abs(step_ns - quantile_cont(step_ns, 0.5) OVER of_kind)
            <= 0.25 * quantile_cont(step_ns, 0.5) OVER of_kind AS is_steady,
        hash(step_kind, phase, batch_size, token_class) AS kind_hash
    FROM kinds
    WINDOW of_kind AS (PARTITION BY job, step_kind, phase, batch_size, token_class)
),
-- Neighbours of a run have consecutive places, so place minus the number within the kind is equal.
numbered AS (
    SELECT *, place - row_number() OVER (PARTITION BY job, kind_hash ORDER BY place) AS run_number
    FROM judged
    WHERE is_steady
),
runs AS (
    SELECT
        job,
        min_by(step, place) AS first_step,
        max_by(step, place) AS last_step,
        count(*) AS step_count,
        list(step ORDER BY place) AS steps,
        any_value(step_kind) AS step_kind,
        any_value(phase) AS phase,
        any_value(batch_size) AS batch_size,
        round(quantile_cont(step_ns, 0.5))::BIGINT AS step_p50_ns,
        (max(step_ns) - min(step_ns)) / nullif(quantile_cont(step_ns, 0.5), 0) AS spread_frac,
        sum(step_ns)::BIGINT AS total_ns
    FROM numbered
    GROUP BY job, kind_hash, run_number
    HAVING count(*) >= 2
),
all_steps AS (
    SELECT job, sum(step_ns) AS job_ns
    FROM of_job
    GROUP BY job
)
SELECT
    r.job,
    row_number() OVER (PARTITION BY r.job ORDER BY r.total_ns DESC, r.first_step) AS position,
    r.first_step,
    r.last_step,
    r.step_count,
    r.step_kind,
    r.phase,
    r.batch_size,
    r.step_p50_ns,
    r.spread_frac,
    r.total_ns,
    r.total_ns / nullif(a.job_ns, 0) AS time_frac,
    r.steps
FROM runs AS r
JOIN all_steps AS a ON a.job = r.job
ORDER BY r.job, position;
