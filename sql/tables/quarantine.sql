-- One row per piece of a trace or attachment that could not be used.
--
-- reads: attachments, job_of_file, rank_of_file, traces
CREATE OR REPLACE MACRO quarantine_schema() AS TABLE
SELECT
    NULL::VARCHAR AS job,
    NULL::INTEGER AS rank,
    NULL::VARCHAR AS path,
    NULL::BIGINT AS event_id,      -- position among the elements of the file's list
    NULL::BIGINT AS byte_offset,   -- position in the uncompressed file
    NULL::BIGINT AS byte_length,
    NULL::VARCHAR AS reason,
    NULL::BLOB AS bytes,           -- bytes as in the file; above 16 MB, the first 64 kB
    NULL::BOOLEAN AS is_cut        -- whether `bytes` is only a part
WHERE false;

-- The pieces of the archive's traces and attachments that could not be used.
CREATE OR REPLACE VIEW quarantine AS
FROM quarantine_schema()
UNION ALL BY NAME
SELECT
    * EXCLUDE (filename), job_of_file(filename) AS job, rank_of_file(filename) AS rank
FROM read_parquet(
    rank_files('quarantine'), filename = true,
    hive_partitioning = false, union_by_name = archive_is_mixed()
)
WHERE is_listed(
    'quarantine',
    list_contains(
        (
            SELECT list(hash(id))
            FROM (SELECT trace_id AS id FROM traces UNION ALL SELECT file_id AS id FROM attachments)
        ),
        hash(parse_filename(filename, true))
    )
);
