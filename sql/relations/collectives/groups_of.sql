-- The process groups as in groups_v1: stored ones, and computed ones for jobs without stored ones.
--
-- `jobs`: the jobs to look at (NULL: all). Planning the computation takes most of a small query's
-- time. So when an archive is opened and it is known which jobs lack stored results, this macro is
-- replaced by one that reads less.
--
-- reads: groups_v1, jobs_without_results, stored_groups
CREATE OR REPLACE MACRO groups_of(jobs) AS TABLE
WITH
lacking AS MATERIALIZED (
    SELECT coalesce(list(w.job), []) AS lacking_jobs
    FROM jobs_without_results('groups_v1') AS w
    WHERE (jobs IS NULL OR list_contains(jobs, w.job))
)
SELECT s.*
FROM stored_groups AS s
WHERE (jobs IS NULL OR list_contains(jobs, s.job))
UNION ALL BY NAME
FROM groups_v1((SELECT l.lacking_jobs FROM lacking AS l));
