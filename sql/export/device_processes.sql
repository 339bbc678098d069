-- The process of each device in the export, where its counters are drawn, for the ranks in
-- export_batch.
CREATE OR REPLACE TEMP TABLE export_device_processes AS
SELECT rank, device, min(new_pid) AS new_pid
FROM export_lanes
WHERE is_device
GROUP BY rank, device
