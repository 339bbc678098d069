-- One row per change in a memory timeline (torch.profiler's raw export), in the order of the file.
--
-- reads: attachments, job_of_file, rank_of_file
CREATE OR REPLACE MACRO memory_events_schema() AS TABLE
SELECT
    NULL::VARCHAR AS job,
    NULL::INTEGER AS rank,
    NULL::BIGINT AS position,      -- 0-based in the file
    NULL::BIGINT AS at_ns,         -- Unix time; -1 for memory from before profiling
    NULL::VARCHAR AS action,       -- preexisting, create, increment_version or destroy
    NULL::BIGINT AS action_id,     -- action as the file writes it, from 1
    NULL::BIGINT AS bytes,         -- bytes added; negative if removed
    NULL::VARCHAR AS category,     -- such as parameter, activation or gradient
    NULL::BIGINT AS category_id    -- category as the file writes it, from 0
WHERE false;

-- The changes in the archive's memory timelines.
--
-- The view skips data files that attachments.parquet does not list.
--
-- shared: session
CREATE OR REPLACE VIEW memory_events AS
FROM memory_events_schema()
UNION ALL BY NAME
SELECT
    * EXCLUDE (filename), job_of_file(filename) AS job, rank_of_file(filename) AS rank
FROM read_parquet(
    rank_files('memory_events'), filename = true,
    hive_partitioning = false, union_by_name = archive_is_mixed()
)
WHERE is_listed(
    'memory_events',
    list_contains(
        (SELECT list(hash(file_id)) FROM attachments),
        hash(parse_filename(filename, true))
    )
);
