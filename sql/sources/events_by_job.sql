-- events, of the files of `hta-sql compact`, which hold several ranks of a job.
--
-- A rank that was ingested anew has a file of its own, and its rows here no longer count.
CREATE OR REPLACE VIEW events_by_job AS
FROM events_schema()
UNION ALL BY NAME
SELECT
    * EXCLUDE (filename),
    job_of_file(filename) AS job,
    start_ns + dur_ns AS end_ns
FROM read_parquet(
    job_files('events'),
    hive_partitioning = false,
    union_by_name = archive_is_mixed(),
    filename = true
)
WHERE hash(parse_filename(filename, true), rank) IN (SELECT hash(file_id, rank) FROM traces);
