-- Creates the table of the windows of a job's ranks, from the list of structs path_windows, and the
-- empty tables to which rank/9_edges.sql and add_ranks.sql add the graphs of these ranks.
--
-- pid and tid are the thread of the window's step or annotation. They are NULL if the window is a
-- whole trace.
CREATE OR REPLACE TEMP TABLE job_windows AS
SELECT
    w.rank::INTEGER AS rank,
    w.start_ns::BIGINT AS since_ns,
    w.end_ns::BIGINT AS until_ns,
    w.pid::VARCHAR AS pid,
    w.tid::VARCHAR AS tid
FROM (SELECT unnest(getvariable('path_windows')) AS w);

-- Nodes and edges are many, so these types store a word as a number. The words of a type are in the
-- order of the alphabet, which is also their order in ORDER BY.
CREATE TEMP TYPE IF NOT EXISTS path_lane AS ENUM ('device', 'host', 'meeting', 'window');
CREATE TEMP TYPE IF NOT EXISTS path_edge AS ENUM (
    'dependency', 'kernel_kernel_delay', 'kernel_launch_delay', 'operator', 'order',
    'sync_dependency'
);
CREATE TEMP TYPE IF NOT EXISTS path_bound AS ENUM (
    'cpu_bound', 'data_loading', 'gpu_communication_bound', 'gpu_compute_bound',
    'gpu_kernel_kernel_overhead', 'gpu_kernel_launch_overhead'
);
CREATE TEMP TYPE IF NOT EXISTS path_why AS ENUM ('launch', 'meeting', 'outside', 'stream');

-- The nodes of all ranks are numbered consecutively, rank after rank. `lane` is the place to which
-- a node belongs: `host`, `device`, or `window` for the window's own start and end.
CREATE OR REPLACE TEMP TABLE job_nodes (
    rank INTEGER,
    node BIGINT,
    lane path_lane,
    event_id BIGINT,
    is_start BOOLEAN,
    at_ns BIGINT
);

CREATE OR REPLACE TEMP TABLE job_rank_edges (
    number BIGINT,
    rank INTEGER,
    source BIGINT,
    target BIGINT,
    edge path_edge,
    event_id BIGINT,
    bound_by path_bound,
    why path_why,
    is_launch BOOLEAN,
    time_ns BIGINT,
    delay_ns BIGINT
);

-- The spans and activities of the ranks' windows. short_name is NULL for a span.
CREATE OR REPLACE TEMP TABLE job_events (
    rank INTEGER,
    event_id BIGINT,
    name VARCHAR,
    short_name VARCHAR
);

-- When the activities ended that had begun before the rank's first activity of the window.
CREATE OR REPLACE TEMP TABLE job_earlier_activities (
    rank INTEGER,
    end_ns BIGINT
);
