-- What the archive's memory timelines tell.
--
-- A data file counts only while attachments.parquet names it.
CREATE OR REPLACE VIEW memory_events AS
FROM memory_events_schema()
UNION ALL BY NAME
SELECT
    * EXCLUDE (filename),
    job_of_file(filename) AS job,
    rank_of_file(filename) AS rank
FROM read_parquet(
    rank_files('memory_events'),
    hive_partitioning = false,
    union_by_name = archive_is_mixed(),
    filename = true
)
WHERE list_contains(
    (SELECT list(hash(file_id)) FROM attachments),
    hash(parse_filename(filename, true))
);
