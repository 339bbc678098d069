-- The sides of a comparison: the base, which came before, and the test, which is in question.
--
-- Each side consists of some ranks and steps of a job. Both sides may be of one job, and they may
-- share rows.
--
-- reads: traces

-- The jobs of the sides: one row with base and test. Without names, they are the first and the last
-- job by name. A named job that is not in the archive is an error, since otherwise everything would
-- seem to be new.
CREATE OR REPLACE MACRO compared_jobs(base_job, test_job) AS TABLE
WITH
there AS (
    SELECT
        min(coalesce(base_job::VARCHAR, t.job)) AS base,
        max(coalesce(test_job::VARCHAR, t.job)) AS test,
        bool_or(base_job IS NULL OR t.job = base_job) AS has_base,
        bool_or(test_job IS NULL OR t.job = test_job) AS has_test
    FROM traces AS t
)
SELECT
    CASE
        WHEN has_base AND has_test THEN base
        WHEN base IS NOT NULL THEN error(concat(
            'no job ''',
            least(CASE WHEN NOT has_base THEN base END, CASE WHEN NOT has_test THEN test END),
            ''' in the archive; `traces` has its jobs'
        ))
    END AS base,
    test
FROM there;

-- False for rows whose job is on neither side, if both sides are named. DuckDB knows this before it
-- reads, so it does not read the files of other jobs.
CREATE OR REPLACE MACRO may_be_compared(of_job, base_job, test_job) AS
(base_job IS NULL OR test_job IS NULL OR of_job = base_job OR of_job = test_job);

-- Whether a row is of the jobs of the sides. `base` and `test` are those of compared_jobs.
CREATE OR REPLACE MACRO is_compared(of_job, base, test, base_job, test_job) AS
(may_be_compared(of_job, base_job, test_job) AND (of_job = base OR of_job = test));

-- Whether a row is of a side. If steps are chosen, rows outside of steps are not.
CREATE OR REPLACE MACRO is_of_side(of_job, of_rank, of_step, side_job, side_ranks, side_steps) AS
coalesce(
    of_job = side_job
    AND (side_ranks IS NULL OR list_contains(side_ranks, of_rank))
    AND (side_steps IS NULL OR list_contains(side_steps, of_step)),
    false
);

-- The jobs of the sides if both are named, else NULL. This is known before files are opened.
CREATE OR REPLACE MACRO named_jobs(base_job, test_job) AS
CASE WHEN base_job IS NOT NULL AND test_job IS NOT NULL THEN [base_job, test_job] END;

-- The jobs of the sides as a list, without a check that they exist.
CREATE OR REPLACE MACRO compared_job_names(base_job, test_job) AS
CASE
    WHEN base_job IS NOT NULL AND test_job IS NOT NULL THEN [base_job, test_job]
    ELSE (
        SELECT [min(coalesce(base_job, t.job)), max(coalesce(test_job, t.job))]
        FROM traces AS t
    )
END;
