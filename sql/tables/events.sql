-- Every event of every trace, one row each, in the order of the file.
--
-- reads: job_of_file, rank_of_file, traces
CREATE OR REPLACE MACRO events_schema() AS TABLE
SELECT
    NULL::VARCHAR AS job,          -- one run of a program
    NULL::INTEGER AS rank,         -- global rank of the process
    NULL::BIGINT AS event_id,      -- 0-based position in traceEvents, all phases counted
    NULL::VARCHAR AS ph,           -- phase: X span, i instant, s/f flow, M metadata, C counter
    NULL::VARCHAR AS cat,          -- category as the trace names it
    NULL::VARCHAR AS name,
    NULL::VARCHAR AS pid,          -- process id, or the device's index on GPU rows
    NULL::VARCHAR AS tid,          -- thread id, or the stream's on GPU rows
    NULL::BIGINT AS start_ns,      -- Unix time where the trace tells it; NULL for metadata
    NULL::BIGINT AS dur_ns,        -- NULL for anything but spans
    NULL::BIGINT AS end_ns,        -- start_ns + dur_ns
    NULL::VARCHAR AS id,           -- joins the two ends of a flow
    NULL::VARCHAR AS bp,           -- a flow's binding point
    NULL::VARCHAR AS s,            -- an instant's scope
    NULL::BIGINT AS correlation,   -- joins a launch and its activities
    NULL::BIGINT AS external_id,   -- joins an operator and its activities
    NULL::BIGINT AS stream,
    NULL::BIGINT AS device,
    NULL::BIGINT AS record_function_id,  -- of operators and annotations: joins execution traces
    NULL::BIGINT AS sequence_number,     -- of autograd
    NULL::BIGINT AS fwd_thread_id,       -- of backward operators: where the forward one ran
    NULL::VARCHAR AS input_dims,         -- JSON, as the next two
    NULL::VARCHAR AS input_types,
    NULL::VARCHAR AS concrete_inputs,
    NULL::VARCHAR AS args,         -- JSON: all arguments, as in the trace
    NULL::VARCHAR AS more          -- JSON: the other keys of Chrome's format; Kineto writes none
WHERE false;

-- events, of the files that hold one rank each.
CREATE OR REPLACE VIEW events_by_rank AS
FROM events_schema()
UNION ALL BY NAME
SELECT
    * EXCLUDE (filename), job_of_file(filename) AS job, rank_of_file(filename) AS rank,
    start_ns + dur_ns AS end_ns
FROM read_parquet(
    rank_files('events'), filename = true,
    hive_partitioning = false, union_by_name = archive_is_mixed()
)
WHERE list_contains(
    (SELECT list(hash(coalesce(file_id, trace_id))) FROM traces),
    hash(parse_filename(filename, true))
);

-- events, of the files of `hta-sql compact`, which hold several ranks of a job.
--
-- A rank that was ingested anew has a file of its own, and its rows here no longer count.
CREATE OR REPLACE VIEW events_by_job AS
FROM events_schema()
UNION ALL BY NAME
SELECT
    * EXCLUDE (filename), job_of_file(filename) AS job,
    start_ns + dur_ns AS end_ns
FROM read_parquet(
    job_files('events'), filename = true,
    hive_partitioning = false, union_by_name = archive_is_mixed()
)
WHERE hash(parse_filename(filename, true), rank) IN (SELECT hash(file_id, rank) FROM traces);

CREATE OR REPLACE VIEW events AS
FROM events_by_rank
UNION ALL BY NAME
FROM events_by_job;
