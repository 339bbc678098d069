-- The archive's critical paths through all ranks of a job.
--
-- A data file counts only while critical_paths names it.
CREATE OR REPLACE VIEW job_path_edges AS
FROM job_path_edges_schema()
UNION ALL BY NAME
SELECT
    * EXCLUDE (filename),
    job_of_file(filename) AS job
FROM read_parquet(
    rank_files('job_path_edges'),
    hive_partitioning = false,
    union_by_name = archive_is_mixed(),
    filename = true
)
WHERE list_contains(
    (SELECT list(hash(path_id)) FROM critical_paths),
    hash(parse_filename(filename, true))
);
