-- One row per rank: the time from the first start to the last end of its activities.
--
-- `jobs`: jobs to select (NULL: all).
-- `steps`: steps to select (NULL: all activities, also outside of steps).
--
-- Returns job, rank and span_ns.
--
-- reads: gpu_activities
CREATE OR REPLACE MACRO rank_spans(jobs, steps) AS TABLE
SELECT a.job, a.rank, max(a.end_ns) - min(a.start_ns) AS span_ns
FROM gpu_activities AS a
WHERE (jobs IS NULL OR list_contains(jobs, a.job))
  AND (steps IS NULL OR list_contains(steps, a.step))
GROUP BY a.job, a.rank;
