-- The rows of queue_length_series for the ranks in export_batch (the ranks prepared together).
CREATE OR REPLACE TEMP TABLE export_queue AS
SELECT rank, device, stream, queue_length, at_ns, change, event_id
FROM queue_length_series(
    only_jobs := [getvariable('export_job')],
    only_ranks := getvariable('export_batch'),
    only_steps := getvariable('export_steps')
)
