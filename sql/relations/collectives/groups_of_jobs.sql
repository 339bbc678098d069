-- The process groups of jobs, as groups_v1 has them, with group_id, which numbers those of all jobs.
--
-- `jobs` are the jobs to look at; NULL means all.
CREATE OR REPLACE MACRO groups_of_jobs(jobs) AS TABLE
SELECT *, row_number() OVER (ORDER BY job, group_number) AS group_id
FROM groups_of(jobs);
