-- Creates the empty tables to which add_rank.sql adds the graphs of a job's ranks.
--
-- The nodes of all ranks are numbered consecutively, rank after rank. `lane` is the place to which
-- a node belongs: `host`, `device`, or `window` for the window's own start and end.
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

-- When the activities ended that had begun before the rank's first activity of the window.
CREATE OR REPLACE TEMP TABLE job_earlier_activities (
    rank INTEGER,
    end_ns BIGINT
);
