-- The calls of collectives and messages as in pairs_v1: stored ones, and computed ones for jobs
-- without stored ones.
--
-- `jobs`: the jobs to look at (NULL: all). Planning the computation takes most of a small query's
-- time. So when an archive is opened and it is known which jobs lack stored results, this macro is
-- replaced by one that reads less.
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
