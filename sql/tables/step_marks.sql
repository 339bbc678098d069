-- One row per step of a trace whose steps are not ProfilerStep annotations.
--
-- A trace has rows if another annotation, or the launches of its graphs, mark its steps.
--
-- reads: job_of_file, rank_of_file, traces
CREATE OR REPLACE MACRO step_marks_schema() AS TABLE
SELECT
    NULL::VARCHAR AS job,
    NULL::INTEGER AS rank,
    NULL::BIGINT AS step,
    NULL::VARCHAR AS step_name,    -- name of the annotation or launch
    NULL::VARCHAR AS marked_by,    -- framework in step_rules, --steps, annotation or graph launch
    NULL::BIGINT AS event_id,      -- event_id of the annotation, or of the graph launch
    NULL::VARCHAR AS pid,
    NULL::VARCHAR AS tid,
    NULL::BIGINT AS start_ns,
    NULL::BIGINT AS dur_ns,
    NULL::BIGINT AS end_ns
WHERE false;

-- shared: session
CREATE OR REPLACE VIEW step_marks AS
FROM step_marks_schema()
UNION ALL BY NAME
SELECT
    * EXCLUDE (filename), job_of_file(filename) AS job, rank_of_file(filename) AS rank,
    start_ns + dur_ns AS end_ns
FROM read_parquet(
    rank_files('step_marks'), filename = true,
    hive_partitioning = false, union_by_name = archive_is_mixed()
)
WHERE is_listed(
    'step_marks',
    list_contains((SELECT list(hash(trace_id)) FROM traces), hash(parse_filename(filename, true)))
);
