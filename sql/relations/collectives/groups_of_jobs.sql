-- One row per process group, as in groups_v1, with a group_id that is unique over all jobs.
--
-- `jobs`: the jobs to look at (NULL: all)
--
-- reads: groups_of
CREATE OR REPLACE MACRO groups_of_jobs(jobs) AS TABLE
SELECT *, row_number() OVER (ORDER BY job, group_number) AS group_id
FROM groups_of(jobs);
