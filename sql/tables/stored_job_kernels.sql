-- The stored rows of job_kernels. The header of job_kernels explains the columns.
--
-- reads: stored_results
CREATE OR REPLACE MACRO stored_job_kernels_schema() AS TABLE
SELECT
    NULL::VARCHAR AS job,
    NULL::VARCHAR AS device_name,
    NULL::VARCHAR AS kind,
    NULL::VARCHAR AS name,
    NULL::VARCHAR AS op_name,
    NULL::VARCHAR AS input_dims,
    NULL::VARCHAR AS input_types,
    NULL::VARCHAR AS concrete_inputs,
    NULL::BOOLEAN AS is_rest,
    NULL::BIGINT AS position,
    NULL::BIGINT AS count,
    NULL::BIGINT AS total_ns,
    NULL::BIGINT AS min_ns,
    NULL::BIGINT AS max_ns,
    NULL::DOUBLE AS total_frac,
    NULL::BIGINT AS flops,
    NULL::BIGINT AS bytes,
    NULL::BIGINT AS costed_ns,
    NULL::DOUBLE AS achieved_tflops,
    NULL::DOUBLE AS achieved_gbps
WHERE false;

-- The stored rows of job_kernels.
--
-- The view reads a job's rows only from the data file that stored_results lists for the job.
CREATE OR REPLACE VIEW stored_job_kernels AS
FROM stored_job_kernels_schema()
UNION ALL BY NAME
SELECT r.* EXCLUDE (filename)
FROM read_parquet(
    result_files('stored_job_kernels'),
    hive_partitioning = false,
    filename = true
) AS r
SEMI JOIN stored_results AS k
    ON k.job = r.job
    AND k.query = 'job_kernels_v1'
    AND k.file_id = parse_filename(r.filename, true)
WHERE files_are_there('stored_job_kernels');
