-- What a comparison is between: its base, what was before, and its test, what is asked about.
--
-- Each side is some ranks and steps of a job. The two may be of one job, and may share rows.
--
-- reads: traces

-- The jobs of the sides, one row of base and test: the named ones, else the first and the last by
-- name. An error where a named job is not in the archive: all would seem to be new.
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

-- False of rows whose job is of neither side, as far as they are named. DuckDB knows this
-- beforehand, and leaves the files of other jobs unread.
CREATE OR REPLACE MACRO may_be_compared(of_job, base_job, test_job) AS
(base_job IS NULL OR test_job IS NULL OR of_job = base_job OR of_job = test_job);

-- Whether a row is of the jobs of the sides, `base` and `test` of compared_jobs.
CREATE OR REPLACE MACRO is_compared(of_job, base, test, base_job, test_job) AS
(may_be_compared(of_job, base_job, test_job) AND (of_job = base OR of_job = test));

-- Whether a row is of a side; outside of steps where only some are chosen, it is not.
CREATE OR REPLACE MACRO is_of_side(of_job, of_rank, of_step, side_job, side_ranks, side_steps) AS
coalesce(
    of_job = side_job
    AND (side_ranks IS NULL OR list_contains(side_ranks, of_rank))
    AND (side_steps IS NULL OR list_contains(side_steps, of_step)),
    false
);

-- The jobs of the sides where both are named, else NULL: known before files are opened.
CREATE OR REPLACE MACRO named_jobs(base_job, test_job) AS
CASE WHEN base_job IS NOT NULL AND test_job IS NOT NULL THEN [base_job, test_job] END;

-- The jobs of the sides as a list, without a look whether they are there.
CREATE OR REPLACE MACRO compared_job_names(base_job, test_job) AS
CASE
    WHEN base_job IS NOT NULL AND test_job IS NOT NULL THEN [base_job, test_job]
    ELSE (
        SELECT [min(coalesce(base_job, t.job)), max(coalesce(test_job, t.job))]
        FROM traces AS t
    )
END;
