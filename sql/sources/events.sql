-- Every event of the archive's traces.
--
-- A data file counts only while traces.parquet names it: a trace appears and disappears as a whole.
CREATE OR REPLACE VIEW events AS
FROM events_schema()
UNION ALL BY NAME
SELECT
    * EXCLUDE (filename),
    job_of_file(filename) AS job,
    rank_of_file(filename) AS rank,
    start_ns + dur_ns AS end_ns
FROM read_parquet(
    'events/*/*/*.parquet',
    hive_partitioning = false,
    union_by_name = archive_is_mixed(),
    filename = true
)
WHERE list_contains(
    (SELECT list(hash(trace_id)) FROM traces),
    hash(parse_filename(filename, true))
);
