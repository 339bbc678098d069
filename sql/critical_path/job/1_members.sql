-- The job's collectives and messages: which calls of its ranks belong together.
CREATE OR REPLACE TEMP TABLE job_members AS
FROM paired_members([getvariable('path_job')]);
