-- How long each rank's devices were traced: from its first activity to the end of its last.
--
-- `jobs` and `steps` are those to look at; NULL means all. Gives job, rank and span_ns.
--
-- reads: gpu_activities
CREATE OR REPLACE MACRO rank_spans(jobs, steps) AS TABLE
SELECT a.job, a.rank, max(a.end_ns) - min(a.start_ns) AS span_ns
FROM gpu_activities AS a
WHERE (jobs IS NULL OR list_contains(jobs, a.job))
  AND (steps IS NULL OR list_contains(steps, a.step))
GROUP BY a.job, a.rank;
