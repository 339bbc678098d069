-- The stored rows of job_summary. The header of job_summary explains the columns. outside_ns and
-- utilisation_frac are NULL in results that an hta_sql without these columns has stored.
--
-- reads: stored_results
CREATE OR REPLACE MACRO stored_job_summary_schema() AS TABLE
SELECT
    NULL::VARCHAR AS job,
    NULL::TIMESTAMP AS started_at,
    NULL::BIGINT AS rank_count,
    NULL::INTEGER AS world_size,
    NULL::BIGINT AS host_count,
    NULL::VARCHAR AS device_name,
    NULL::BIGINT AS step_count,
    NULL::BIGINT AS step_mean_ns,
    NULL::BIGINT AS step_p50_ns,
    NULL::BIGINT AS gpu_span_ns,
    NULL::BIGINT AS outside_ns,
    NULL::BIGINT AS busy_ns,
    NULL::BIGINT AS compute_ns,
    NULL::BIGINT AS communication_ns,
    NULL::BIGINT AS overlap_ns,
    NULL::BIGINT AS exposed_communication_ns,
    NULL::BIGINT AS exposed_memory_ns,
    NULL::BIGINT AS idle_ns,
    NULL::BIGINT AS host_wait_ns,
    NULL::BIGINT AS launching_ns,
    NULL::BIGINT AS queued_ns,
    NULL::BIGINT AS kernel_wait_ns,
    NULL::BIGINT AS unknown_wait_ns,
    NULL::BIGINT AS lost_gpu_ns,
    NULL::DOUBLE AS utilisation_frac,
    NULL::DOUBLE AS busy_frac,
    NULL::DOUBLE AS compute_frac,
    NULL::DOUBLE AS overlap_frac,
    NULL::DOUBLE AS exposed_communication_frac,
    NULL::DOUBLE AS idle_frac,
    NULL::DOUBLE AS lost_gpu_frac,
    NULL::VARCHAR AS top_kernel,
    NULL::BIGINT AS top_kernel_ns,
    NULL::DOUBLE AS top_kernel_frac,
    NULL::INTEGER AS worst_rank,
    NULL::VARCHAR AS worst_rank_host,
    NULL::BIGINT AS worst_rank_lost_ns,
    NULL::VARCHAR AS top_finding,
    NULL::VARCHAR AS top_finding_rule,
    NULL::DOUBLE AS top_gain_frac,
    NULL::BIGINT AS finding_count
WHERE false;

-- The stored rows of job_summary.
--
-- The view reads a job's rows only from the data file that stored_results lists for the job.
CREATE OR REPLACE VIEW stored_job_summary AS
FROM stored_job_summary_schema()
UNION ALL BY NAME
SELECT r.* EXCLUDE (filename)
FROM read_parquet(
    result_files('stored_job_summary'),
    hive_partitioning = false,
    union_by_name = true,
    filename = true
) AS r
SEMI JOIN stored_results AS k
    ON k.job = r.job
    AND k.query = 'job_summary_v2'
    AND k.file_id = parse_filename(r.filename, true)
WHERE files_are_there('stored_job_summary');
