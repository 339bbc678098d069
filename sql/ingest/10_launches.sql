-- The runtime or driver call that launched each GPU activity, by correlation id, with its thread,
-- times, step, operator and annotation.
--
-- This table is separate from gpu_activities, so that the rows to sort are narrow.
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
-- If several calls carry one correlation id, the outermost is the launch.
QUALIFY row_number() OVER (
    PARTITION BY correlation
    ORDER BY start_ns, dur_ns DESC, event_id
) = 1;
