-- What of the archive's traces could not be used.
CREATE OR REPLACE VIEW quarantine AS
FROM quarantine_schema()
UNION ALL BY NAME
SELECT * EXCLUDE (filename)
FROM read_parquet(
    'quarantine/*/*/*.parquet',
    hive_partitioning = true,
    hive_types = {job: 'VARCHAR', rank: 'INTEGER'},
    union_by_name = archive_is_mixed(),
    filename = true
)
WHERE list_contains(
    (SELECT list(hash(trace_id)) FROM read_parquet('[t]races.parquet')),
    hash(parse_filename(filename, true))
);
