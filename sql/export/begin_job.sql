-- export_clocks for a job whose export does not need the clocks of its ranks: an empty table.
CREATE OR REPLACE TEMP TABLE export_clocks (
    job VARCHAR,
    rank INTEGER,
    local_ns BIGINT,
    reference_ns BIGINT,
    gain DOUBLE,
    residual_ns BIGINT
)
