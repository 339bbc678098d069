-- How long each rank's devices were traced: from the first activity's start to the last one's end.
--
-- `jobs` and `steps`: those to look at (NULL: all). Returns job, rank and span_ns.
--
-- reads: gpu_activities
CREATE OR REPLACE MACRO rank_spans(jobs, steps) AS TABLE
SELECT a.job, a.rank, max(a.end_ns) - min(a.start_ns) AS span_ns
FROM gpu_activities AS a
WHERE (jobs IS NULL OR list_contains(jobs, a.job))
  AND (steps IS NULL OR list_contains(steps, a.step))
GROUP BY a.job, a.rank;
