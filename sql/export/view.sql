-- One row: from when until when the file has the exported step or window, on the file's clock.
--
-- A rank's own part of the step or window is from_ns to until_ns.
SELECT
    min(from_ns + shift_ns) - getvariable('export_base_ns') AS from_ns,
    max(until_ns + shift_ns) - getvariable('export_base_ns') AS until_ns
FROM export_ranks
WHERE is_chosen AND from_ns < until_ns
