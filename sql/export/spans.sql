-- One row per span of the exported step on a rank's host, and one per device of the rank.
--
-- Times are on each rank's own clock. In the host's rows, device is NULL. A device's row lasts from
-- the first start to the last end of the step's activities on this device.
CREATE OR REPLACE TEMP TABLE export_spans AS
SELECT s.rank, NULL::BIGINT AS device, s.start_ns, s.end_ns
FROM steps AS s
WHERE s.job = getvariable('export_job') AND s.step = getvariable('export_step')
UNION ALL
SELECT a.rank, a.device, min(a.start_ns) AS start_ns, max(a.end_ns) AS end_ns
FROM gpu_activities AS a
WHERE a.job = getvariable('export_job') AND a.step = getvariable('export_step')
GROUP BY a.rank, a.device
