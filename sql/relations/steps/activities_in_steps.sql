-- One row per GPU activity that was launched in a step, in the form that busy_times takes, without
-- its device: job, rank, device (NULL), step, kind, start_ns and end_ns.
--
-- `jobs`, `ranks`, `chosen`: lists of the jobs, ranks and steps to return (NULL: all)
--
-- reads: gpu_activities
CREATE OR REPLACE MACRO activities_in_steps(jobs, ranks, chosen) AS TABLE
SELECT a.job, a.rank, NULL::BIGINT AS device, a.step, a.kind, a.start_ns, a.end_ns
FROM gpu_activities AS a
WHERE (jobs IS NULL OR list_contains(jobs, a.job))
  AND (ranks IS NULL OR list_contains(ranks, a.rank))
  AND (chosen IS NULL OR list_contains(chosen, a.step))
  AND a.step IS NOT NULL;
