-- What was assumed of the archive's windows.
--
-- A data file counts only while critical_paths names it.
CREATE OR REPLACE VIEW what_if_times AS
FROM what_if_times_schema()
UNION ALL BY NAME
SELECT
    * EXCLUDE (filename),
    job_of_file(filename) AS job
FROM read_parquet(
    rank_files('what_if_times'),
    hive_partitioning = false,
    union_by_name = archive_is_mixed(),
    filename = true
)
WHERE list_contains(
    (SELECT list(hash(path_id)) FROM critical_paths),
    hash(parse_filename(filename, true))
);
