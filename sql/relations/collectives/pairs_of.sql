-- One row per call of a collective or message, as in pairs_v1. The macro reads stored rows of
-- pairs_v1, and computes the rows of jobs without stored rows.
--
-- `jobs`: the jobs to look at (NULL: all)
--
-- In a small query, planning the computation in pairs_v1 takes most of the time. When hta-sql opens
-- an archive, it usually knows which jobs have no stored result. hta-sql then replaces this macro
-- by one that computes only these jobs. If all jobs have stored results, the replacement does not
-- read pairs_v1.
--
-- shared: session
--
-- reads: jobs_without_results, pairs_v1, stored_pairs
CREATE OR REPLACE MACRO pairs_of(jobs) AS TABLE
WITH
lacking AS MATERIALIZED (
    SELECT coalesce(list(w.job), []) AS lacking_jobs
    FROM jobs_without_results('pairs_v1') AS w
    WHERE (jobs IS NULL OR list_contains(jobs, w.job))
)
SELECT s.*
FROM stored_pairs AS s
WHERE (jobs IS NULL OR list_contains(jobs, s.job))
UNION ALL BY NAME
FROM pairs_v1((SELECT l.lacking_jobs FROM lacking AS l));
