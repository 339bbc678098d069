-- One row per device of a rank: how long the device was busy with each kind of activity.
--
-- Returns the columns of busy_times. `step` is NULL, since a row covers all selected steps.
-- `jobs`, `ranks` and `steps`: the activities to read, as in activities_of.
--
-- reads: busy_times, gpu_activities
CREATE OR REPLACE MACRO device_times(jobs, ranks, steps) AS TABLE
WITH
of_devices AS (
    SELECT a.job, a.rank, a.device, NULL::BIGINT AS step, a.kind, a.start_ns, a.end_ns
    FROM gpu_activities AS a
    WHERE (jobs IS NULL OR list_contains(jobs, a.job))
      AND (ranks IS NULL OR list_contains(ranks, a.rank))
      AND (steps IS NULL OR list_contains(steps, a.step))
)
FROM busy_times(of_devices);
