-- The same, for a job of which nothing is asked that needs its ranks' clocks.
CREATE OR REPLACE TEMP TABLE export_clocks (
    job VARCHAR,
    rank INTEGER,
    local_ns BIGINT,
    reference_ns BIGINT,
    gain DOUBLE,
    residual_ns BIGINT
)
