-- One row per kernel, copy or memset: job, rank, kind, name and dur_ns.
--
-- `jobs`, `ranks` and `steps`: the activities to read, as in activities_of.
-- `part`: only activities with this text in their name (NULL: all).
-- `is_short`: if true, `name` is the activity's short_name.
--
-- reads: gpu_activities
CREATE OR REPLACE MACRO named_calls(jobs, ranks, steps, part, is_short) AS TABLE
SELECT
    a.job,
    a.rank,
    a.kind,
    CASE WHEN is_short THEN a.short_name ELSE a.name END AS name,
    a.dur_ns
FROM gpu_activities AS a
WHERE (jobs IS NULL OR list_contains(jobs, a.job))
  AND (ranks IS NULL OR list_contains(ranks, a.rank))
  AND (steps IS NULL OR list_contains(steps, a.step))
  AND (part IS NULL OR contains(a.name, part));
