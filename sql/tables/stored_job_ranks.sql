-- The stored rows of job_ranks. The header of job_ranks explains the columns.
--
-- reads: stored_results
CREATE OR REPLACE MACRO stored_job_ranks_schema() AS TABLE
SELECT
    NULL::VARCHAR AS job,
    NULL::INTEGER AS rank,
    NULL::VARCHAR AS host,
    NULL::VARCHAR AS device_name,
    NULL::BIGINT AS local_rank,
    NULL::BIGINT AS step_count,
    NULL::BIGINT AS step_mean_ns,
    NULL::BIGINT AS gpu_span_ns,
    NULL::BIGINT AS busy_ns,
    NULL::BIGINT AS compute_ns,
    NULL::BIGINT AS communication_ns,
    NULL::BIGINT AS exposed_communication_ns,
    NULL::BIGINT AS exposed_memory_ns,
    NULL::BIGINT AS idle_ns,
    NULL::BIGINT AS kernel_ns,
    NULL::BIGINT AS compared_ns,
    NULL::BIGINT AS expected_ns,
    NULL::DOUBLE AS compute_ratio,
    NULL::BIGINT AS launch_count,
    NULL::BIGINT AS launch_p50_ns,
    NULL::DOUBLE AS launch_ratio,
    NULL::BIGINT AS late_count,
    NULL::BIGINT AS lost_gpu_ns
WHERE false;

-- The stored rows of job_ranks.
--
-- The view reads a job's rows only from the data file that stored_results lists for the job.
CREATE OR REPLACE VIEW stored_job_ranks AS
FROM stored_job_ranks_schema()
UNION ALL BY NAME
SELECT r.* EXCLUDE (filename)
FROM read_parquet(
    result_files('stored_job_ranks'),
    hive_partitioning = false,
    filename = true
) AS r
SEMI JOIN stored_results AS k
    ON k.job = r.job
    AND k.query = 'job_ranks_v1'
    AND k.file_id = parse_filename(r.filename, true)
WHERE files_are_there('stored_job_ranks');
