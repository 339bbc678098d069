-- Marks the lanes (threads and streams) that have exported events.
UPDATE export_lanes
SET is_used = true
WHERE lane IN (SELECT lane FROM export_selected)
