-- The stored rows of findings. The header of findings explains the columns.
--
-- reads: stored_results
CREATE OR REPLACE MACRO stored_findings_schema() AS TABLE
SELECT
    NULL::VARCHAR AS job,
    NULL::INTEGER AS rank,
    NULL::VARCHAR AS rule,
    NULL::VARCHAR AS subject,
    NULL::VARCHAR AS severity,
    NULL::VARCHAR AS title,
    NULL::VARCHAR AS evidence,
    NULL::VARCHAR AS evidence_numbers,
    NULL::BIGINT AS estimated_gain_ns,
    NULL::DOUBLE AS estimated_gain_frac,
    NULL::VARCHAR AS gain_unit,
    NULL::VARCHAR AS gain_method,
    NULL::VARCHAR AS confidence,
    NULL::VARCHAR AS advice,
    NULL::VARCHAR AS see
WHERE false;

-- The stored rows of findings.
--
-- The view reads a job's rows only from the data file that stored_results lists for the job.
CREATE OR REPLACE VIEW stored_findings AS
FROM stored_findings_schema()
UNION ALL BY NAME
SELECT r.* EXCLUDE (filename)
FROM read_parquet(
    result_files('stored_findings'),
    hive_partitioning = false,
    filename = true
) AS r
SEMI JOIN stored_results AS k
    ON k.job = r.job
    AND k.query = 'findings_v1'
    AND k.file_id = parse_filename(r.filename, true)
WHERE files_are_there('stored_findings');
