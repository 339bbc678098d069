-- Adds one row per device of the chosen ranks, with its number in the export.
--
-- If several ranks are exported together, the devices are numbered consecutively over all chosen
-- ranks. If one rank is exported, a device keeps its number.
INSERT INTO export_devices
SELECT
    rank,
    device,
    CASE
        WHEN len(getvariable('export_ranks')) > 1
        THEN row_number() OVER (ORDER BY rank, device) - 1
        ELSE device
    END AS new_device
FROM (
    SELECT DISTINCT a.rank, a.device
    FROM gpu_activities AS a
    WHERE a.job = getvariable('export_job')
      AND list_contains(getvariable('export_ranks'), a.rank)
      AND a.device IS NOT NULL
)
