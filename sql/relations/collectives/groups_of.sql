-- One row per process group, as in groups_v1. The macro reads the stored rows of groups_v1,
-- and computes the rows of jobs without stored rows.
--
-- `jobs`: the jobs to look at (NULL: all)
--
-- In a small query, planning the computation in groups_v1 takes most of the time. When hta-sql
-- opens an archive, it usually knows which jobs have no stored result. hta-sql then replaces this
-- macro by one that computes only these jobs. If all jobs have stored results, the replacement does
-- not read groups_v1.
--
-- shared: session
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
