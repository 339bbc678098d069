-- One row per job and query whose result is stored.
--
-- reads: traces, traces_hash_of
CREATE OR REPLACE MACRO stored_results_schema() AS TABLE
SELECT
    NULL::VARCHAR AS job,
    NULL::VARCHAR AS query,                  -- query with its version, such as job_summary_v2
    NULL::VARCHAR AS file_id,                -- name of the Parquet file, which may hold more jobs
    NULL::VARCHAR AS traces_hash,            -- hash of the traces that the result was computed from
    NULL::BIGINT AS row_count,
    NULL::STRUCT(path VARCHAR, bytes BIGINT, sha256 VARCHAR)[] AS files,  -- its Parquet files
    NULL::VARCHAR AS hta_sql_version,
    NULL::TIMESTAMP AS computed_at,
    NULL::VARCHAR AS made_with               -- hash of the SQL files and rules that made it
WHERE false;

-- The archive's stored results. The view skips a result if the job's traces changed after the
-- result was computed.
CREATE OR REPLACE VIEW stored_results AS
FROM stored_results_schema()
UNION ALL BY NAME
SELECT k.*
FROM read_parquet(
    archive_manifest('stored_results'),
    hive_partitioning = false,
    union_by_name = true
) AS k
SEMI JOIN (
    SELECT t.job, traces_hash_of(t.trace_id, t.rank) AS traces_hash
    FROM traces AS t
    GROUP BY t.job
) AS now
    ON now.job = k.job AND now.traces_hash = k.traces_hash;
