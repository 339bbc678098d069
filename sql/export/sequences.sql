-- One row per frequent kernel sequence of a rank's operators, as in kernel_sequences.
CREATE OR REPLACE TEMP TABLE export_sequences AS
SELECT operator, sequence, count
FROM kernel_sequences(
    operator := getvariable('export_operator'),
    only_jobs := [getvariable('export_job')],
    only_ranks := [getvariable('export_rank')],
    min_length := getvariable('export_min_length')
)
ORDER BY count DESC, operator, sequence
LIMIT getvariable('export_top_k')
