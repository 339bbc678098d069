-- One row per file that belongs to a trace: an execution trace or a memory timeline. A file is part
-- of the archive if and only if this table has a row for the file.
CREATE OR REPLACE MACRO attachments_schema() AS TABLE
SELECT
    NULL::VARCHAR AS job,
    NULL::INTEGER AS rank,
    NULL::VARCHAR AS kind,                   -- execution_trace or memory_timeline
    NULL::VARCHAR AS file_id,                -- name of the Parquet files that hold its rows
    NULL::VARCHAR AS path,                   -- the source file
    NULL::BIGINT AS file_bytes,
    NULL::BIGINT AS modified_ns,             -- when the source file was last written
    NULL::VARCHAR AS fingerprint,            -- hash of the source file
    NULL::VARCHAR AS status,                 -- complete, or what is wrong with the file
    NULL::BIGINT AS row_count,               -- rows in execution_nodes or memory_events
    NULL::BIGINT AS quarantined_count,       -- elements that could not be used
    NULL::VARCHAR AS rank_source,            -- given, file name, only rank, pid or order
    NULL::VARCHAR AS format,                 -- schema version of an execution trace, such as 1.1.0
    NULL::VARCHAR AS pid,                    -- id of the process that wrote an execution trace
    NULL::VARCHAR AS metadata,               -- JSON: every other top-level key of the file
    NULL::STRUCT(path VARCHAR, bytes BIGINT, sha256 VARCHAR)[] AS files,  -- its Parquet files
    NULL::VARCHAR AS hta_sql_version,
    NULL::INTEGER AS schema_version,
    NULL::TIMESTAMP AS ingested_at
WHERE false;

-- The execution traces and memory timelines of the archive.
--
-- shared: session
CREATE OR REPLACE VIEW attachments AS
FROM attachments_schema()
UNION ALL BY NAME
FROM read_parquet(
    archive_manifest('attachments'),
    hive_partitioning = false,
    union_by_name = archive_is_mixed()
)
WHERE archive_jobs() IS NULL OR list_contains(archive_jobs(), job);
