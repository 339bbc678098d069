-- The critical path of a job through its ranks, an edge a row.
--
-- reads: critical_paths, job_of_file
CREATE OR REPLACE MACRO job_path_edges_schema() AS TABLE
SELECT
    NULL::VARCHAR AS job,
    NULL::VARCHAR AS path_window,
    NULL::BIGINT AS position,            -- from 1
    NULL::INTEGER AS rank,               -- on which its time passes
    NULL::VARCHAR AS edge,               -- as in path_edges
    NULL::VARCHAR AS bound_by,
    NULL::BIGINT AS event_id,            -- whose time it is; NULL: nobody's
    NULL::VARCHAR AS name,
    NULL::BIGINT AS collective_id,       -- of a collective's transfer, as in collectives
    NULL::BIGINT AS start_ns,            -- on the lowest rank's clock
    NULL::BIGINT AS time_ns              -- from then until the next edge
WHERE false;

-- The archive's critical paths through all ranks of a job.
--
-- A data file counts only while critical_paths names it.
CREATE OR REPLACE VIEW job_path_edges AS
FROM job_path_edges_schema()
UNION ALL BY NAME
SELECT
    * EXCLUDE (filename), job_of_file(filename) AS job
FROM read_parquet(
    rank_files('job_path_edges'), filename = true,
    hive_partitioning = false, union_by_name = archive_is_mixed()
)
WHERE list_contains(
    (SELECT list(hash(path_id)) FROM critical_paths),
    hash(parse_filename(filename, true))
);
