-- Macros for the two sides of a comparison: the base (before) and the test (after).
--
-- A side is a job, or some ranks or steps of a job. Both sides may be of the same job. A row of
-- host_ops or gpu_activities may then belong to both sides.
--
-- reads: traces

-- One row: base and test, the jobs of the two sides.
--
-- By default, the base is the first job by name, and the test is the last job by name. The macro
-- raises an error if a given job is not in the archive. Without the error, all work of the other
-- job would seem to be added or deleted.
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

-- False if both jobs are given and of_job is neither of them, else true.
--
-- DuckDB evaluates this condition before it reads Parquet files, and then skips files of other
-- jobs.
CREATE OR REPLACE MACRO may_be_compared(of_job, base_job, test_job) AS
(base_job IS NULL OR test_job IS NULL OR of_job = base_job OR of_job = test_job);

-- Whether of_job is the job of a side. `base` and `test` are the columns of compared_jobs.
CREATE OR REPLACE MACRO is_compared(of_job, base, test, base_job, test_job) AS
(may_be_compared(of_job, base_job, test_job) AND (of_job = base OR of_job = test));

-- Whether a row with of_job, of_rank and of_step belongs to a side. If side_steps is not NULL, rows
-- outside steps do not belong to the side.
CREATE OR REPLACE MACRO is_of_side(of_job, of_rank, of_step, side_job, side_ranks, side_steps) AS
coalesce(
    of_job = side_job
    AND (side_ranks IS NULL OR list_contains(side_ranks, of_rank))
    AND (side_steps IS NULL OR list_contains(side_steps, of_step)),
    false
);

-- The list of both jobs if both are given, else NULL. DuckDB knows this list before it opens
-- Parquet files.
CREATE OR REPLACE MACRO named_jobs(base_job, test_job) AS
CASE WHEN base_job IS NOT NULL AND test_job IS NOT NULL THEN [base_job, test_job] END;

-- The jobs of both sides as a list. The macro does not check that the jobs exist.
CREATE OR REPLACE MACRO compared_job_names(base_job, test_job) AS
CASE
    WHEN base_job IS NOT NULL AND test_job IS NOT NULL THEN [base_job, test_job]
    ELSE (
        SELECT [min(coalesce(base_job, t.job)), max(coalesce(test_job, t.job))]
        FROM traces AS t
    )
END;
