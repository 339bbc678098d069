-- One row per edge of the critical path of a job and window. The path leads through the job's
-- ranks.
--
-- reads: critical_paths, job_of_file
CREATE OR REPLACE MACRO job_path_edges_schema() AS TABLE
SELECT
    NULL::VARCHAR AS job,
    NULL::VARCHAR AS path_window,
    NULL::BIGINT AS position,            -- place on the path, from 1
    NULL::INTEGER AS rank,               -- rank on which the time passes
    NULL::VARCHAR AS edge,               -- kind of edge, as in path_edges
    NULL::VARCHAR AS bound_by,
    NULL::BIGINT AS event_id,            -- event that takes the time; NULL: none
    NULL::VARCHAR AS name,
    NULL::BIGINT AS collective_id,       -- of a transfer: collective_id as in collectives
    NULL::BIGINT AS start_ns,            -- aligned clock; the rank's own clock if there is none
    NULL::BIGINT AS time_ns              -- time from start_ns to the start_ns of the next edge
WHERE false;

-- The archive's critical paths through all ranks of a job.
--
-- The view skips data files that critical_paths does not list.
--
-- shared: session
CREATE OR REPLACE VIEW job_path_edges AS
FROM job_path_edges_schema()
UNION ALL BY NAME
SELECT
    * EXCLUDE (filename), job_of_file(filename) AS job
FROM read_parquet(
    rank_files('job_path_edges'), filename = true,
    hive_partitioning = false, union_by_name = archive_is_mixed()
)
WHERE files_are_there('job_path_edges')
    AND list_contains(
        (SELECT list(hash(path_id)) FROM critical_paths),
        hash(parse_filename(filename, true))
    );
