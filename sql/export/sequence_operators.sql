-- A rank's operators whose sequences of kernels are sought, as in kernel_sequences.
--
-- Variables: export_job, export_rank; export_operator, part of their names. A table, as the two
-- after it: DuckDB knows how many rows it has, and joins accordingly.
CREATE OR REPLACE TEMP TABLE export_operators AS
FROM outermost_operators(
    getvariable('export_operator'), [getvariable('export_job')], [getvariable('export_rank')],
    NULL::BIGINT[]
)
