-- The GPU activities of some jobs, ranks and steps; NULL means all, of steps also those outside.
--
-- reads: gpu_activities
CREATE OR REPLACE MACRO activities_of(jobs, ranks, steps) AS TABLE
SELECT a.*
FROM gpu_activities AS a
WHERE (jobs IS NULL OR list_contains(jobs, a.job))
  AND (ranks IS NULL OR list_contains(ranks, a.rank))
  AND (steps IS NULL OR list_contains(steps, a.step));
