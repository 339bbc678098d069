-- The files that go with the archive's traces.
CREATE OR REPLACE VIEW attachments AS
FROM attachments_schema()
UNION ALL BY NAME
FROM read_parquet(
    archive_manifest('attachments'),
    hive_partitioning = false,
    union_by_name = archive_is_mixed()
)
WHERE archive_jobs() IS NULL OR list_contains(archive_jobs(), job);
