-- One row a window of a job whose critical paths were computed. It counts while its traces do.
--
-- reads: traces
CREATE OR REPLACE MACRO critical_paths_schema() AS TABLE
SELECT
    NULL::VARCHAR AS job,
    NULL::VARCHAR AS path_window,        -- step N, an annotation and its instance, or trace
    NULL::VARCHAR AS path_id,            -- names its Parquet files
    NULL::INTEGER[] AS ranks,            -- ranks that have the window
    NULL::VARCHAR[] AS trace_ids,        -- and their traces
    NULL::VARCHAR[] AS data_loading,     -- names of annotations taken for loading of data
    NULL::BIGINT AS node_count,
    NULL::BIGINT AS edge_count,
    NULL::BIGINT AS left_out_count,      -- edges against time, left out as they close a circle
    NULL::VARCHAR AS hta_sql_version,
    NULL::TIMESTAMP AS computed_at
WHERE false;

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
