-- One row per job and window with computed critical paths. A window is a step, an annotation or the
-- whole trace.
--
-- reads: traces
CREATE OR REPLACE MACRO critical_paths_schema() AS TABLE
SELECT
    NULL::VARCHAR AS job,
    NULL::VARCHAR AS path_window,        -- step N, annotation and instance, or trace
    NULL::VARCHAR AS path_id,            -- name of the Parquet files that hold the paths
    NULL::INTEGER[] AS ranks,            -- ranks that have the window
    NULL::VARCHAR[] AS trace_ids,        -- trace_id of these ranks' traces
    NULL::VARCHAR[] AS data_loading,     -- names, or parts of names, of data-loading annotations
    NULL::BIGINT AS node_count,
    NULL::BIGINT AS edge_count,
    NULL::BIGINT AS left_out_count,      -- edges removed to break cycles; they go back in time
    NULL::STRUCT(path VARCHAR, bytes BIGINT, sha256 VARCHAR)[] AS files,  -- its Parquet files
    NULL::VARCHAR AS hta_sql_version,
    NULL::TIMESTAMP AS computed_at
WHERE false;

-- The archive's critical paths. The view skips a row if one of its traces was removed from the
-- archive or ingested again, since the path no longer fits the traces.
--
-- shared: session
CREATE OR REPLACE VIEW critical_paths AS
FROM critical_paths_schema()
UNION ALL BY NAME
FROM read_parquet(
    archive_manifest('critical_paths'),
    hive_partitioning = false,
    union_by_name = archive_is_mixed()
)
WHERE list_has_all((SELECT list(trace_id) FROM traces), trace_ids);
