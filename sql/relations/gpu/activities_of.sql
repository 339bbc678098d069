-- The GPU activities of some jobs, ranks and steps.
--
-- `jobs`, `ranks` and `steps`: lists of values to select (NULL: all). If `steps` is NULL, the
-- activities outside of steps are included.
--
-- reads: gpu_activities
CREATE OR REPLACE MACRO activities_of(jobs, ranks, steps) AS TABLE
SELECT a.*
FROM gpu_activities AS a
WHERE (jobs IS NULL OR list_contains(jobs, a.job))
  AND (ranks IS NULL OR list_contains(ranks, a.rank))
  AND (steps IS NULL OR list_contains(steps, a.step));
