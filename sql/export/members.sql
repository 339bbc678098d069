-- One row per call of the job's collectives and messages.
--
-- clocks.sql and job_stragglers.sql read this table, so that the calls are paired only once.
CREATE OR REPLACE TEMP TABLE export_members AS
SELECT
    job,
    rank,
    event_id,
    collective_id,
    group_id,
    name,
    process_group,
    step,
    start_ns,
    end_ns,
    dur_ns,
    wait_ns,
    transfer_ns,
    ends_together,
    is_message,
    member_count
FROM paired_members([getvariable('export_job')])
