-- The graph of each rank and window that critical paths were computed for, an edge a row.
--
-- reads: critical_paths, job_of_file, rank_of_file
CREATE OR REPLACE MACRO path_edges_schema() AS TABLE
SELECT
    NULL::VARCHAR AS job,
    NULL::INTEGER AS rank,
    NULL::VARCHAR AS path_window,
    NULL::BIGINT AS position,            -- on the rank's critical path, from 1; NULL: not on it
    NULL::VARCHAR AS edge,               -- operator, dependency, kernel_launch_delay,
                                         -- kernel_kernel_delay, sync_dependency, or order: what had
                                         -- come long before, and is on no path
    NULL::VARCHAR AS bound_by,           -- what takes its time; NULL: nothing
    NULL::BIGINT AS event_id,            -- whose time it is; NULL: nobody's
    NULL::VARCHAR AS name,               -- of that event
    NULL::BIGINT AS source_node,
    NULL::BIGINT AS target_node,
    NULL::BIGINT AS source_event_id,     -- NULL for the window itself
    NULL::BOOLEAN AS is_source_start,    -- the source is the event's start, not its end
    NULL::BIGINT AS target_event_id,
    NULL::BOOLEAN AS is_target_start,
    NULL::BIGINT AS start_ns,            -- when the source came
    NULL::BIGINT AS end_ns,              -- when the target came
    NULL::BIGINT AS time_ns,             -- what it takes on a path
    NULL::BIGINT AS delay_ns             -- the target comes that long after the source, or later
WHERE false;

-- The graphs of the archive's critical paths.
--
-- A data file counts only while critical_paths names it.
CREATE OR REPLACE VIEW path_edges AS
FROM path_edges_schema()
UNION ALL BY NAME
SELECT
    * EXCLUDE (filename), job_of_file(filename) AS job, rank_of_file(filename) AS rank
FROM read_parquet(
    rank_files('path_edges'), filename = true,
    hive_partitioning = false, union_by_name = archive_is_mixed()
)
WHERE list_contains(
    (SELECT list(hash(path_id)) FROM critical_paths),
    hash(parse_filename(filename, true))
);
