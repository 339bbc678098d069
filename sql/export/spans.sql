-- The time of the exported step, on each rank's own clock. The host's spans of the step have no
-- device. For each device, the time is from the first start of the step's activities to their last
-- end.
CREATE OR REPLACE TEMP TABLE export_spans AS
SELECT s.rank, NULL::BIGINT AS device, s.start_ns, s.end_ns
FROM steps AS s
WHERE s.job = getvariable('export_job') AND s.step = getvariable('export_step')
UNION ALL
SELECT a.rank, a.device, min(a.start_ns) AS start_ns, max(a.end_ns) AS end_ns
FROM gpu_activities AS a
WHERE a.job = getvariable('export_job') AND a.step = getvariable('export_step')
GROUP BY a.rank, a.device
