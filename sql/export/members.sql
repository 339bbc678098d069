-- The calls of a job's collectives, paired once for all files that read them.
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
