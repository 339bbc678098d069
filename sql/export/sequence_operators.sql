-- A rank's operators whose sequences of kernels are marked, as in kernel_sequences.
--
-- Variables: export_job, export_rank; export_operator, a part of the operators' names. This and the
-- two files after it write tables, so that DuckDB knows their numbers of rows and joins
-- accordingly.
CREATE OR REPLACE TEMP TABLE export_operators AS
FROM outermost_operators(
    getvariable('export_operator'), [getvariable('export_job')], [getvariable('export_rank')],
    NULL::BIGINT[]
)
