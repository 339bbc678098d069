-- The process groups of jobs, as groups_v1 has them, with a group_id that is unique over all jobs.
--
-- `jobs` are the jobs to look at; NULL means all.
--
-- reads: groups_of
CREATE OR REPLACE MACRO groups_of_jobs(jobs) AS TABLE
SELECT *, row_number() OVER (ORDER BY job, group_number) AS group_id
FROM groups_of(jobs);
