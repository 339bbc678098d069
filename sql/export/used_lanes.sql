-- Which lanes have something that is exported.
UPDATE export_lanes
SET is_used = true
WHERE lane IN (SELECT lane FROM export_selected)
