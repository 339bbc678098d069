-- The stored results of queries, a row for each job: those of its traces as they are now.
--
-- reads: traces, traces_hash_of
CREATE OR REPLACE MACRO stored_results_schema() AS TABLE
SELECT
    NULL::VARCHAR AS job,
    NULL::VARCHAR AS query,                  -- with its version: job_summary_v1
    NULL::VARCHAR AS file_id,                -- names the Parquet file that holds it, among others
    NULL::VARCHAR AS traces_hash,            -- of the traces that it was computed from
    NULL::BIGINT AS row_count,
    NULL::VARCHAR AS hta_sql_version,
    NULL::TIMESTAMP AS computed_at
WHERE false;

-- The archive's stored results, of jobs whose traces are still as they were.
CREATE OR REPLACE VIEW stored_results AS
FROM stored_results_schema()
UNION ALL BY NAME
SELECT k.*
FROM read_parquet(
    archive_manifest('stored_results'),
    hive_partitioning = false,
    union_by_name = archive_is_mixed()
) AS k
SEMI JOIN (
    SELECT t.job, traces_hash_of(t.trace_id, t.rank) AS traces_hash
    FROM traces AS t
    GROUP BY t.job
) AS now
    ON now.job = k.job AND now.traces_hash = k.traces_hash;
