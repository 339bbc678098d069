-- The stored rows of groups_v1. The header of groups_v1 explains the columns.
--
-- reads: stored_results
CREATE OR REPLACE MACRO stored_groups_schema() AS TABLE
SELECT
    NULL::VARCHAR AS job,
    NULL::BIGINT AS group_number,
    NULL::VARCHAR AS process_group,
    NULL::VARCHAR AS process_group_desc,
    NULL::BIGINT AS group_size,
    NULL::INTEGER[] AS ranks,
    NULL::VARCHAR AS ranks_source,
    NULL::VARCHAR AS ranks_text,
    NULL::BOOLEAN AS is_ambiguous
WHERE false;

-- The stored rows of groups_v1.
--
-- The view reads a job's rows only from the data file that stored_results lists for the job.
CREATE OR REPLACE VIEW stored_groups AS
FROM stored_groups_schema()
UNION ALL BY NAME
SELECT r.* EXCLUDE (filename)
FROM read_parquet(
    result_files('stored_groups'),
    hive_partitioning = false,
    filename = true
) AS r
SEMI JOIN stored_results AS k
    ON k.job = r.job
    AND k.query = 'groups_v1'
    AND k.file_id = parse_filename(r.filename, true)
WHERE files_are_there('stored_groups');
