-- host_ops, of the files that hold one rank each.
CREATE OR REPLACE VIEW host_ops_by_rank AS
FROM host_ops_schema()
UNION ALL BY NAME
SELECT
    * EXCLUDE (filename),
    job_of_file(filename) AS job,
    rank_of_file(filename) AS rank,
    start_ns + dur_ns AS end_ns
FROM read_parquet(
    rank_files('host_ops'),
    hive_partitioning = false,
    union_by_name = archive_is_mixed(),
    filename = true
)
WHERE list_contains(
    (SELECT list(hash(coalesce(file_id, trace_id))) FROM traces),
    hash(parse_filename(filename, true))
);
