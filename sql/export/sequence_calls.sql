-- One row per event of a rank that can be inside an operator: a host event or a launched activity.
-- An activity is inside the operator in which its launch is.
CREATE OR REPLACE TEMP TABLE export_calls AS
SELECT
    job,
    rank,
    event_id,
    true AS is_activity,
    coalesce(name, '') AS name,
    start_ns,
    launch_id AS call_id,
    launch_pid AS call_pid,
    launch_tid AS call_tid,
    launch_start_ns AS call_start_ns,
    launch_end_ns AS call_end_ns
FROM gpu_activities
WHERE job = getvariable('export_job')
  AND rank = getvariable('export_rank')
  AND launch_id IS NOT NULL
UNION ALL BY NAME
SELECT
    job,
    rank,
    event_id,
    false AS is_activity,
    event_id AS call_id,
    pid AS call_pid,
    tid AS call_tid,
    start_ns AS call_start_ns,
    end_ns AS call_end_ns
FROM host_ops
WHERE job = getvariable('export_job') AND rank = getvariable('export_rank')
