-- The archive's traces.
CREATE OR REPLACE VIEW traces AS
FROM traces_schema()
UNION ALL BY NAME
FROM read_parquet(
    archive_manifest('traces'),
    hive_partitioning = false,
    union_by_name = archive_is_mixed()
)
WHERE archive_jobs() IS NULL OR list_contains(archive_jobs(), job);
