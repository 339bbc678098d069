-- One row per call of the job's collectives and messages, as in paired_members.
CREATE OR REPLACE TEMP TABLE job_members AS
FROM paired_members([getvariable('path_job')]);
