-- The activities that findings measure: those in measured steps, and all of ranks without steps.
--
-- `activities` has job, rank and step.
-- `steady`: rows of shared_steady, or some of them.
--
-- Returns the rows of `activities`. Both joins have equalities only. With `OR`, DuckDB would
-- compare each activity with each step of its rank.
CREATE OR REPLACE MACRO in_measured_steps(activities, steady) AS TABLE
WITH
stepless_ranks AS (
    SELECT DISTINCT job, rank, true AS is_stepless
    FROM query_table(steady)
    WHERE step IS NULL
)
SELECT a.*
FROM query_table(activities) AS a
LEFT JOIN stepless_ranks AS r ON r.job = a.job AND r.rank = a.rank
SEMI JOIN query_table(steady) AS s
    ON s.job = a.job
    AND s.rank = a.rank
    AND s.step IS NOT DISTINCT FROM CASE WHEN r.is_stepless IS NULL THEN a.step END;
