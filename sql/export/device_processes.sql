-- One row per device of the ranks in export_batch (the ranks prepared together): the process that
-- shows the device's counters.
CREATE OR REPLACE TEMP TABLE export_device_processes AS
SELECT rank, device, min(new_pid) AS new_pid
FROM export_lanes
WHERE is_device
GROUP BY rank, device
