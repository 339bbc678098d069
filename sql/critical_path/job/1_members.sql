-- The calls of the job's collectives and messages, matched across ranks.
CREATE OR REPLACE TEMP TABLE job_members AS
FROM paired_members([getvariable('path_job')]);
