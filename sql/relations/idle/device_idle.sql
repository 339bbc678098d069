-- One row per part of an idle time of a whole device, as in idle_parts.
--
-- `jobs`, `ranks`, `steps`: the activities to measure, as in activities_of. If steps are selected,
--   an idle time can include time in which activities of other steps run.
-- `kernel_gap_ns`: a kernel_wait is shorter than this (ns).
--
-- The columns of gpu_activities describe the activity that ends the idle time. next_stream is its
-- stream, and stream is NULL.
--
-- reads: activities_of, idle_parts
CREATE OR REPLACE MACRO device_idle(jobs, ranks, steps, kernel_gap_ns) AS TABLE
WITH
picked AS (
    -- Without a stream, all streams of a device count as one.
    SELECT * REPLACE (NULL::BIGINT AS stream), stream AS next_stream
    FROM activities_of(jobs, ranks, steps)
)
FROM idle_parts(picked, kernel_gap_ns);
