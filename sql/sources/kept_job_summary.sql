-- The stored rows of job_summary.
--
-- A data file counts only for the jobs for which kept_results names it.
CREATE OR REPLACE VIEW kept_job_summary AS
FROM kept_job_summary_schema()
UNION ALL BY NAME
SELECT r.* EXCLUDE (filename)
FROM read_parquet(
    result_files('kept_job_summary'),
    hive_partitioning = false,
    filename = true
) AS r
SEMI JOIN kept_results AS k
    ON k.job = r.job
    AND k.query = 'job_summary_v1'
    AND k.file_id = parse_filename(r.filename, true);
