-- What of the archive's traces and attachments could not be used.
CREATE OR REPLACE VIEW quarantine AS
FROM quarantine_schema()
UNION ALL BY NAME
SELECT
    * EXCLUDE (filename),
    job_of_file(filename) AS job,
    rank_of_file(filename) AS rank
FROM read_parquet(
    rank_files('quarantine'),
    hive_partitioning = false,
    union_by_name = archive_is_mixed(),
    filename = true
)
WHERE list_contains(
    (
        SELECT list(hash(id))
        FROM (SELECT trace_id AS id FROM traces UNION ALL SELECT file_id AS id FROM attachments)
    ),
    hash(parse_filename(filename, true))
);
