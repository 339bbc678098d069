-- The archive's critical paths, of traces that are still as they were.
CREATE OR REPLACE VIEW critical_paths AS
FROM critical_paths_schema()
UNION ALL BY NAME
FROM read_parquet(
    archive_manifest('critical_paths'),
    hive_partitioning = false,
    union_by_name = archive_is_mixed()
)
WHERE list_has_all((SELECT list(trace_id) FROM traces), trace_ids);
