-- The stored results of queries, a row for each job: those of its traces as they are now.
CREATE OR REPLACE MACRO kept_results_schema() AS TABLE
SELECT
    NULL::VARCHAR AS job,
    NULL::VARCHAR AS query,                  -- with its version: job_summary_v1
    NULL::VARCHAR AS file_id,                -- names the Parquet file that holds it, among others
    NULL::VARCHAR AS traces_hash,            -- of the traces that it was computed from
    NULL::BIGINT AS row_count,
    NULL::VARCHAR AS hta_sql_version,
    NULL::TIMESTAMP AS computed_at
WHERE false;

CREATE OR REPLACE VIEW kept_results AS
FROM kept_results_schema();
