-- The rows of `spans`, and the GPU activities that these spans launched, with the after_id and
-- before_id of their launch.
--
-- `spans` has job, rank, event_id, after_id, before_id, cat, name, step, start_ns and dur_ns of
-- host operations.
--
-- reads: gpu_activities
CREATE OR REPLACE MACRO with_launched(spans, jobs, ranks) AS TABLE
SELECT job, rank, event_id, after_id, before_id, cat, name, step, start_ns, dur_ns
FROM query_table(spans)
UNION ALL
SELECT
    a.job, a.rank, a.event_id, launch.after_id, launch.before_id, a.cat, a.name, a.step,
    a.start_ns, a.dur_ns
FROM gpu_activities AS a
JOIN query_table(spans) AS launch
    ON launch.job = a.job AND launch.rank = a.rank AND launch.event_id = a.launch_id
WHERE (jobs IS NULL OR list_contains(jobs, a.job))
  AND (ranks IS NULL OR list_contains(ranks, a.rank));
