-- The rows of memory_bandwidth_series for the ranks in export_batch (the ranks prepared together).
CREATE OR REPLACE TEMP TABLE export_bandwidth AS
SELECT rank, device, copy_kind, bandwidth_gbps, at_ns
FROM memory_bandwidth_series(
    only_jobs := [getvariable('export_job')],
    only_ranks := getvariable('export_batch'),
    only_steps := getvariable('export_steps')
)
