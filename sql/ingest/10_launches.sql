-- One row per correlation id of GPU activities: the runtime or driver call that launched them, with
-- its thread, times, step, operator and annotation.
--
-- To find the launch of each correlation id, DuckDB sorts the calls. This file sorts them, and not
-- 13_gpu_activities.sql, because the rows here are narrow.
CREATE OR REPLACE TEMP TABLE launches AS
SELECT
    correlation,
    event_id AS launch_id,
    name AS launch_name,
    pid AS launch_pid,
    tid AS launch_tid,
    start_ns AS launch_start_ns,
    start_ns + dur_ns AS launch_end_ns,
    step,
    op_id,
    annotation_id
FROM host_ops
WHERE is_runtime_call(cat)
  AND correlation IN (
      SELECT correlation
      FROM trace_events
      WHERE ph = 'X' AND is_gpu_activity(cat)
  )
-- If several calls carry the same correlation id, the outermost call is the launch.
QUALIFY row_number() OVER (
    PARTITION BY correlation
    ORDER BY start_ns, dur_ns DESC, event_id
) = 1;
