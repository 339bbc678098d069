-- The host operations in `spans`, and the GPU activities that they launched, with the after_id and
-- before_id of their launch.
--
-- `spans` has job, rank, event_id, after_id and before_id.
--
-- reads: gpu_activities, host_ops
CREATE OR REPLACE MACRO with_launched(spans, jobs, ranks) AS TABLE
SELECT
    h.job, h.rank, h.event_id, s.after_id, s.before_id, h.cat, h.name, h.step, h.start_ns, h.dur_ns
FROM host_ops AS h
JOIN query_table(spans) AS s
    ON s.job = h.job AND s.rank = h.rank AND s.event_id = h.event_id
WHERE (jobs IS NULL OR list_contains(jobs, h.job))
  AND (ranks IS NULL OR list_contains(ranks, h.rank))
UNION ALL
SELECT
    a.job, a.rank, a.event_id, launch.after_id, launch.before_id, a.cat, a.name, a.step,
    a.start_ns, a.dur_ns
FROM gpu_activities AS a
JOIN query_table(spans) AS launch
    ON launch.job = a.job AND launch.rank = a.rank AND launch.event_id = a.launch_id
WHERE (jobs IS NULL OR list_contains(jobs, a.job))
  AND (ranks IS NULL OR list_contains(ranks, a.rank));
