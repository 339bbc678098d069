-- What a comparison is between: its base, what was before, and its test, what is asked about.
--
-- Each side is some ranks and steps of a job. The two may be of one job, and may share rows.

-- The jobs of the sides: the named ones, else the first and the last by name. Not by coalesce: of
-- CASE, DuckDB sees what a named job comes to before it opens files, and leaves those of others.
CREATE OR REPLACE MACRO base_job_of(named_job) AS
CASE WHEN named_job IS NOT NULL THEN named_job ELSE (SELECT min(t.job) FROM traces AS t) END;

CREATE OR REPLACE MACRO test_job_of(named_job) AS
CASE WHEN named_job IS NOT NULL THEN named_job ELSE (SELECT max(t.job) FROM traces AS t) END;

CREATE OR REPLACE MACRO is_compared(of_job, base_job, test_job) AS
(of_job = base_job_of(base_job) OR of_job = test_job_of(test_job));

-- Whether a row is of a side; outside of steps where only some are chosen, it is not.
CREATE OR REPLACE MACRO is_of_side(of_job, of_rank, of_step, side_job, side_ranks, side_steps) AS
coalesce(
    of_job = side_job
    AND (side_ranks IS NULL OR list_contains(side_ranks, of_rank))
    AND (side_steps IS NULL OR list_contains(side_steps, of_step)),
    false
);

-- True, or an error where a named job is not in the archive: all would seem to be new.
CREATE OR REPLACE MACRO jobs_are_there(base_job, test_job) AS
coalesce(
    (
        SELECT error(concat('no job ''', min(n.job), ''' in the archive; `traces` has its jobs'))
        FROM (SELECT unnest([base_job, test_job]) AS job) AS n
        WHERE n.job NOT IN (SELECT t.job FROM traces AS t)
        HAVING count(*) > 0 AND EXISTS (FROM traces)
    ) IS NULL,
    true
);

CREATE OR REPLACE MACRO compared_sides(
    base_job, test_job, base_ranks, test_ranks, base_steps, test_steps
) AS TABLE
SELECT
    'base' AS side,
    base_job_of(base_job) AS job,
    base_ranks::INTEGER[] AS ranks,
    base_steps::BIGINT[] AS step_numbers
UNION ALL
SELECT
    'test' AS side,
    test_job_of(test_job) AS job,
    test_ranks::INTEGER[] AS ranks,
    test_steps::BIGINT[] AS step_numbers;

-- The steps of each side's ranks: what is done again and again, and so tells how alike it is.
--
-- `all_steps` is the view steps. A side that has no steps at all, and was asked for none, has one
-- row for each rank, with a NULL step, which stands for the whole trace.
CREATE OR REPLACE MACRO compared_steps(
    all_steps, base_job, test_job, base_ranks, test_ranks, base_steps, test_steps
) AS TABLE
WITH
sides AS (
    FROM compared_sides(base_job, test_job, base_ranks, test_ranks, base_steps, test_steps)
),
marked AS (
    SELECT
        sides.side,
        s.job,
        s.rank,
        s.step,
        max(s.end_ns) - min(s.start_ns) AS step_ns
    FROM query_table(all_steps) AS s
    JOIN sides ON sides.job = s.job
    WHERE is_compared(s.job, base_job, test_job)
      AND is_of_side(s.job, s.rank, s.step, sides.job, sides.ranks, sides.step_numbers)
    GROUP BY sides.side, s.job, s.rank, s.step
)
SELECT side, job, rank, step, step_ns
FROM marked
UNION ALL
SELECT sides.side, t.job, t.rank, NULL AS step, NULL AS step_ns
FROM traces AS t
JOIN sides ON sides.job = t.job
WHERE sides.step_numbers IS NULL
  AND (sides.ranks IS NULL OR list_contains(sides.ranks, t.rank))
  AND NOT EXISTS (SELECT 1 FROM marked AS m WHERE m.side = sides.side);

-- How many steps each side has, and whether it has any that are marked as such: one row.
CREATE OR REPLACE MACRO counted_steps(sampled) AS TABLE
SELECT
    count(*) FILTER (side = 'base') AS base_steps_count,
    count(*) FILTER (side = 'test') AS test_steps_count,
    coalesce(bool_or(step IS NOT NULL) FILTER (side = 'base'), false) AS base_has_steps,
    coalesce(bool_or(step IS NOT NULL) FILTER (side = 'test'), false) AS test_has_steps
FROM query_table(sampled);

-- What became of something that was there so many times.
CREATE OR REPLACE MACRO change_of_count(base_times, test_times) AS
CASE
    WHEN base_times = test_times THEN 'unchanged'
    WHEN base_times = 0 THEN 'added'
    WHEN test_times = 0 THEN 'deleted'
    WHEN test_times > base_times THEN 'increased'
    ELSE 'decreased'
END;

-- What the totals of two sides tell of each other.
--
-- `totals` has a row for each thing that is compared, with base_count, test_count, base_total_ns,
-- test_total_ns, and of what was in steps base_in_steps_ns and test_in_steps_ns; `counted` is the
-- row of counted_steps. Gives the columns of `totals`, and those that follow from them.
CREATE OR REPLACE MACRO compared_totals(totals, counted) AS TABLE
WITH
per_step AS (
    SELECT
        t.*,
        round(
            CASE WHEN c.base_has_steps THEN t.base_in_steps_ns ELSE t.base_total_ns END
            / nullif(c.base_steps_count, 0)
        )::BIGINT AS base_per_step_ns,
        round(
            CASE WHEN c.test_has_steps THEN t.test_in_steps_ns ELSE t.test_total_ns END
            / nullif(c.test_steps_count, 0)
        )::BIGINT AS test_per_step_ns
    FROM query_table(totals) AS t
    CROSS JOIN query_table(counted) AS c
)
SELECT
    *,
    test_count - base_count AS diff_count,
    test_total_ns - base_total_ns AS diff_total_ns,
    round(base_total_ns / nullif(base_count, 0))::BIGINT AS base_mean_ns,
    round(test_total_ns / nullif(test_count, 0))::BIGINT AS test_mean_ns,
    test_mean_ns - base_mean_ns AS diff_mean_ns,
    test_per_step_ns - base_per_step_ns AS diff_per_step_ns,
    abs(test_per_step_ns - base_per_step_ns)
        / nullif(sum(abs(test_per_step_ns - base_per_step_ns)) OVER (), 0) AS diff_frac,
    change_of_count(base_count, test_count) AS change
FROM per_step;
