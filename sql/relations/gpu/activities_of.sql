-- The GPU activities of some jobs, ranks and steps (NULL: all; all steps include activities outside
-- of steps).
--
-- reads: gpu_activities
CREATE OR REPLACE MACRO activities_of(jobs, ranks, steps) AS TABLE
SELECT a.*
FROM gpu_activities AS a
WHERE (jobs IS NULL OR list_contains(jobs, a.job))
  AND (ranks IS NULL OR list_contains(ranks, a.rank))
  AND (steps IS NULL OR list_contains(steps, a.step));
