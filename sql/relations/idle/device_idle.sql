-- One row per part of an idle time of a whole device, as in idle_parts.
--
-- `jobs`, `ranks`, `steps`: the activities to measure, as in activities_of. If steps are selected,
--   an idle time can include time in which activities of other steps run.
-- `kernel_gap_ns`: a kernel_wait is shorter than this (ns).
--
-- The columns `name`, `step`, `kind` and `dur_ns` describe the activity that ends the idle time,
-- and next_stream is its stream.
--
-- reads: activities_of, idle_parts
CREATE OR REPLACE MACRO device_idle(jobs, ranks, steps, kernel_gap_ns) AS TABLE
WITH
picked AS (
    SELECT
        a.job,
        a.rank,
        a.device,
        NULL::BIGINT AS stream,  -- so that all streams of a device count as one
        a.stream AS next_stream,
        a.event_id,
        a.name,
        a.kind,
        a.step,
        a.start_ns,
        a.dur_ns,
        a.end_ns,
        a.op_id,
        a.launch_id,
        a.launch_name,
        a.launch_pid,
        a.launch_tid,
        a.launch_start_ns,
        a.launch_end_ns
    FROM activities_of(jobs, ranks, steps) AS a
)
FROM idle_parts(picked, kernel_gap_ns);
