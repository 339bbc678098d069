-- The processes of devices in the export, of some ranks, export_batch: where counters are drawn.
CREATE OR REPLACE TEMP TABLE export_device_processes AS
SELECT rank, device, min(new_pid) AS new_pid
FROM export_lanes
WHERE is_device
GROUP BY rank, device
