-- The nodes of the archive's execution traces.
--
-- A data file counts only while attachments.parquet names it.
CREATE OR REPLACE VIEW execution_nodes AS
FROM execution_nodes_schema()
UNION ALL BY NAME
SELECT
    * EXCLUDE (filename),
    job_of_file(filename) AS job,
    rank_of_file(filename) AS rank
FROM read_parquet(
    rank_files('execution_nodes'),
    hive_partitioning = false,
    union_by_name = archive_is_mixed(),
    filename = true
)
WHERE list_contains(
    (SELECT list(hash(file_id)) FROM attachments),
    hash(parse_filename(filename, true))
);
