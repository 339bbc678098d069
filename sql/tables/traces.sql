-- One row per trace, which is one source file. A trace is in the archive if and only if this table
-- has a row for the trace.
CREATE OR REPLACE MACRO traces_schema() AS TABLE
SELECT
    NULL::VARCHAR AS job,
    NULL::INTEGER AS rank,
    NULL::VARCHAR AS trace_id,               -- id of one ingest of the file; new at each ingest
    NULL::VARCHAR AS file_id,                -- name of the Parquet files that hold its rows
    NULL::VARCHAR AS path,                   -- the source file
    NULL::BIGINT AS file_bytes,
    NULL::BIGINT AS modified_ns,             -- when the source file was last written
    NULL::VARCHAR AS fingerprint,            -- hash of the source file
    NULL::VARCHAR AS status,                 -- complete, or what is wrong with the file
    NULL::BIGINT AS event_count,             -- rows in events
    NULL::BIGINT AS quarantined_count,       -- elements that could not be used
    NULL::BIGINT AS gpu_activity_count,
    NULL::BIGINT AS host_op_count,
    NULL::BIGINT AS start_ns,                -- first span's start
    NULL::BIGINT AS end_ns,                  -- last span's end
    NULL::VARCHAR AS time_format,            -- such as: relative to base; absolute, nanoseconds
    NULL::BIGINT AS base_ns,                 -- time added to every time stamp
    NULL::VARCHAR AS rank_source,            -- given, distributedInfo, file name or order
    NULL::INTEGER AS world_size,
    NULL::VARCHAR AS backend,                -- backend of torch.distributed
    NULL::VARCHAR AS host,
    NULL::VARCHAR AS device_name,            -- name of the first visible device
    NULL::INTEGER AS device_count,           -- devices visible to the process
    NULL::MAP(VARCHAR, VARCHAR) AS tags,     -- tags that the user gave to the job: model, team, …
    NULL::VARCHAR AS steps_pattern,          -- as given with --steps; NULL: the rules of steps
    NULL::VARCHAR AS graph_captures,         -- JSON: the capture traces of its graphs, with status
    NULL::VARCHAR AS metadata,               -- JSON: every other top-level key of the file
    NULL::STRUCT(path VARCHAR, bytes BIGINT, sha256 VARCHAR)[] AS files,  -- its Parquet files
    NULL::VARCHAR AS hta_sql_version,
    NULL::INTEGER AS schema_version,
    NULL::TIMESTAMP AS ingested_at
WHERE false;

-- The archive's traces.
--
-- shared: session
CREATE OR REPLACE VIEW traces AS
FROM traces_schema()
UNION ALL BY NAME
FROM read_parquet(
    archive_manifest('traces'),
    hive_partitioning = false,
    union_by_name = archive_is_mixed()
)
WHERE archive_jobs() IS NULL OR list_contains(archive_jobs(), job);
