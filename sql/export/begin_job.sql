-- Creates export_clocks as an empty table. If the export needs the clocks of the ranks, clocks.sql
-- replaces the table.
CREATE OR REPLACE TEMP TABLE export_clocks (
    job VARCHAR,
    rank INTEGER,
    local_ns BIGINT,
    reference_ns BIGINT,
    gain DOUBLE,
    residual_ns BIGINT
)
