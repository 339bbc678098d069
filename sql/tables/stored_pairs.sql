-- The stored rows of pairs_v1. The header of pairs_v1 explains the columns.
--
-- reads: stored_results
CREATE OR REPLACE MACRO stored_pairs_schema() AS TABLE
SELECT
    NULL::VARCHAR AS job,
    NULL::BIGINT AS collective_id,
    NULL::BIGINT AS group_number,
    NULL::BIGINT AS ends,
    NULL::BOOLEAN AS is_message,
    NULL::BOOLEAN AS ends_together,
    NULL::INTEGER AS rank,
    NULL::BIGINT AS event_id,
    NULL::BIGINT AS device,
    NULL::BIGINT AS step,
    NULL::BIGINT AS start_ns,
    NULL::BIGINT AS dur_ns,
    NULL::BIGINT AS computed_before_ns,
    NULL::BIGINT AS hidden_ns,
    NULL::VARCHAR AS name,
    NULL::VARCHAR AS operation,
    NULL::VARCHAR AS process_group,
    NULL::VARCHAR AS dtype,
    NULL::BIGINT AS in_nelems,
    NULL::BIGINT AS out_nelems,
    NULL::BIGINT AS seq,
    NULL::UBIGINT AS comms_id,
    NULL::VARCHAR AS paired_by,
    NULL::BIGINT AS member_total,
    NULL::BIGINT AS member_count,
    NULL::BIGINT AS transfer_ns
WHERE false;

-- The stored rows of pairs_v1.
--
-- The view reads a job's rows only from the data file that stored_results lists for the job.
CREATE OR REPLACE VIEW stored_pairs AS
FROM stored_pairs_schema()
UNION ALL BY NAME
SELECT r.* EXCLUDE (filename)
FROM read_parquet(
    result_files('stored_pairs'),
    hive_partitioning = false,
    filename = true
) AS r
SEMI JOIN stored_results AS k
    ON k.job = r.job
    AND k.query = 'pairs_v1'
    AND k.file_id = parse_filename(r.filename, true)
WHERE files_are_there('stored_pairs');
