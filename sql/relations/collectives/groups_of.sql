-- The process groups, as groups_v1 has them: stored ones, and computed ones of
-- jobs of which none are stored.
--
-- Planning what computes them takes most of a small query's time. So an archive that is opened, and
-- knows which jobs have none, puts in this macro's place one that reads less. `jobs` are the jobs
-- to look at; NULL means all.
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
