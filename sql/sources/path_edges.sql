-- The graphs of the archive's critical paths.
--
-- A data file counts only while critical_paths names it.
CREATE OR REPLACE VIEW path_edges AS
FROM path_edges_schema()
UNION ALL BY NAME
SELECT
    * EXCLUDE (filename),
    job_of_file(filename) AS job,
    rank_of_file(filename) AS rank
FROM read_parquet(
    rank_files('path_edges'),
    hive_partitioning = false,
    union_by_name = archive_is_mixed(),
    filename = true
)
WHERE list_contains(
    (SELECT list(hash(path_id)) FROM critical_paths),
    hash(parse_filename(filename, true))
);
