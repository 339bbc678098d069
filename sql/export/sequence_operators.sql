-- One row per operator of a rank whose sequences of kernels are marked, as in kernel_sequences.
--
-- Variables:
--   * export_job, export_rank: the rank
--   * export_operator: a part of the operators' names
--
-- This file, sequence_calls.sql and sequence_members.sql write tables and not views. So DuckDB
-- knows how many rows each table has and plans the joins accordingly.
CREATE OR REPLACE TEMP TABLE export_operators AS
FROM outermost_operators(
    getvariable('export_operator'), [getvariable('export_job')], [getvariable('export_rank')],
    NULL::BIGINT[]
)
