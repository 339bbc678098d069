-- The graphs of a job's ranks, one after the other, with nodes numbered over all ranks.
CREATE OR REPLACE TEMP TABLE job_nodes (
    rank INTEGER,
    node BIGINT,
    lane VARCHAR,
    event_id BIGINT,
    is_start BOOLEAN,
    at_ns BIGINT
);

CREATE OR REPLACE TEMP TABLE job_rank_edges (
    rank INTEGER,
    source BIGINT,
    target BIGINT,
    edge VARCHAR,
    event_id BIGINT,
    name VARCHAR,
    short_name VARCHAR,
    bound_by VARCHAR,
    why VARCHAR,
    is_launch BOOLEAN,
    delay_ns BIGINT
);
