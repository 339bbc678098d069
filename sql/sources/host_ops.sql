-- The host operations of the archive's traces.
--
-- A data file counts only while traces.parquet names it: a trace appears and disappears as a whole.
CREATE OR REPLACE VIEW host_ops AS
FROM host_ops_schema()
UNION ALL BY NAME
SELECT * EXCLUDE (filename), start_ns + dur_ns AS end_ns
FROM read_parquet(
    'host_ops/*/*/*.parquet',
    hive_partitioning = true,
    hive_types = {job: 'VARCHAR', rank: 'INTEGER'},
    union_by_name = archive_is_mixed(),
    filename = true
)
WHERE list_contains(
    (SELECT list(hash(trace_id)) FROM read_parquet('[t]races.parquet')),
    hash(parse_filename(filename, true))
);
