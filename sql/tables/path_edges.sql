-- One row per edge of the graph of a rank and window whose critical path was computed.
--
-- A node of the graph is the start or the end of an event, or of the window. An edge leads from its
-- source node to its target node. `edge` is the kind of edge:
--
--     operator             an operator, call or GPU activity runs
--     dependency           the target waits for the source; the edge takes no time
--     kernel_launch_delay  from a launch to the start of its GPU activity
--     kernel_kernel_delay  from the end of a GPU activity to the next start on its stream
--     sync_dependency      a call or stream waits for a GPU activity
--     order                the source came before the target needed it; never on a
--                          rank's path
--
-- In job_path_edges, a sync_dependency can also lead from a rank to a collective that waits
-- for this rank.
--
-- reads: critical_paths, job_of_file, rank_of_file
CREATE OR REPLACE MACRO path_edges_schema() AS TABLE
SELECT
    NULL::VARCHAR AS job,
    NULL::INTEGER AS rank,
    NULL::VARCHAR AS path_window,
    NULL::BIGINT AS position,            -- on the rank's critical path, from 1; NULL: not on it
    NULL::VARCHAR AS edge,               -- kind of edge: operator, dependency, order, ...
    NULL::VARCHAR AS bound_by,           -- what bounds its time; NULL: nothing
    NULL::BIGINT AS event_id,            -- event that takes the time; NULL: none
    NULL::VARCHAR AS name,               -- name of that event
    NULL::BIGINT AS source_node,
    NULL::BIGINT AS target_node,
    NULL::BIGINT AS source_event_id,     -- event of the source; NULL for the window itself
    NULL::BOOLEAN AS is_source_start,    -- whether the source is the event's start, not its end
    NULL::BIGINT AS target_event_id,
    NULL::BOOLEAN AS is_target_start,
    NULL::BIGINT AS start_ns,            -- time of the source
    NULL::BIGINT AS end_ns,              -- time of the target
    NULL::BIGINT AS time_ns,             -- time that the edge takes on a path
    NULL::BIGINT AS delay_ns             -- least time from the source to the target
WHERE false;

-- The graphs in which the archive's critical paths were found.
--
-- The view skips data files that critical_paths does not list.
--
-- shared: session
CREATE OR REPLACE VIEW path_edges AS
FROM path_edges_schema()
UNION ALL BY NAME
SELECT
    * EXCLUDE (filename), job_of_file(filename) AS job, rank_of_file(filename) AS rank
FROM read_parquet(
    rank_files('path_edges'), filename = true,
    hive_partitioning = false, union_by_name = archive_is_mixed()
)
WHERE files_are_there('path_edges')
    AND list_contains(
        (SELECT list(hash(path_id)) FROM critical_paths),
        hash(parse_filename(filename, true))
    );
