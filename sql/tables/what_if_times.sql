-- One row per window and what-if (an assumption, such as a faster kernel): the time that the window
-- would take if the assumption held.
--
-- reads: critical_paths, job_of_file
CREATE OR REPLACE MACRO what_if_times_schema() AS TABLE
SELECT
    NULL::VARCHAR AS job,
    NULL::VARCHAR AS path_window,
    NULL::VARCHAR AS scenario,           -- name of the file in sql/critical_path/what_if
    NULL::VARCHAR AS subject,            -- name or rank that is changed; NULL: all
    NULL::DOUBLE AS factor,              -- how many times faster the subject is
    NULL::BIGINT AS edge_count,          -- edges of the graph that change
    NULL::BIGINT AS step_ns,             -- time that the window takes, as recorded
    NULL::BIGINT AS new_step_ns,         -- time that the window would take
    NULL::VARCHAR AS method              -- assumption, in words
WHERE false;

-- The what-if times of the archive's windows.
--
-- The view skips data files that critical_paths does not list.
--
-- shared: session
CREATE OR REPLACE VIEW what_if_times AS
FROM what_if_times_schema()
UNION ALL BY NAME
SELECT
    * EXCLUDE (filename), job_of_file(filename) AS job
FROM read_parquet(
    rank_files('what_if_times'), filename = true,
    hive_partitioning = false, union_by_name = archive_is_mixed()
)
WHERE files_are_there('what_if_times')
    AND list_contains(
        (SELECT list(hash(path_id)) FROM critical_paths),
        hash(parse_filename(filename, true))
    );
