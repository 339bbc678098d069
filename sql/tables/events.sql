-- Every event of every trace, one row per event, in the order of the file.
--
-- reads: job_of_file, rank_of_file, traces
CREATE OR REPLACE MACRO events_schema() AS TABLE
SELECT
    NULL::VARCHAR AS job,          -- one run of a program
    NULL::INTEGER AS rank,         -- global rank of the process
    NULL::BIGINT AS event_id,      -- 0-based position in traceEvents, all phases counted
    NULL::VARCHAR AS ph,           -- phase: X span, i instant, s/f flow, M metadata, C counter
    NULL::VARCHAR AS cat,          -- category, as the trace names it
    NULL::VARCHAR AS name,
    NULL::VARCHAR AS pid,          -- process id; on GPU rows, the device's index
    NULL::VARCHAR AS tid,          -- thread id; on GPU rows, the stream's id
    NULL::BIGINT AS start_ns,      -- Unix time if the trace records it; NULL for metadata
    NULL::BIGINT AS dur_ns,        -- duration of a span; NULL for other events
    NULL::BIGINT AS end_ns,        -- start_ns + dur_ns
    NULL::VARCHAR AS id,           -- id that joins the two ends of a flow
    NULL::VARCHAR AS bp,           -- binding point of a flow
    NULL::VARCHAR AS s,            -- scope of an instant
    NULL::BIGINT AS correlation,   -- id that joins a launch and its activities
    NULL::BIGINT AS external_id,   -- id that joins an operator and its activities
    NULL::BIGINT AS stream,
    NULL::BIGINT AS device,
    NULL::BIGINT AS record_function_id,  -- joins operators and annotations to execution_nodes
    NULL::BIGINT AS sequence_number,     -- sequence number of autograd
    NULL::BIGINT AS fwd_thread_id,       -- backward operator: autograd's id of the forward thread
    NULL::VARCHAR AS input_dims,         -- JSON: sizes of each argument
    NULL::VARCHAR AS input_types,        -- JSON: type of each argument
    NULL::VARCHAR AS concrete_inputs,    -- JSON: values of numbers, "" for tensors
    NULL::VARCHAR AS args,         -- JSON: all arguments, as in the trace
    NULL::VARCHAR AS more          -- JSON: the other keys of Chrome's format; Kineto writes none
WHERE false;

-- Events from the files that hold one rank each.
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
WHERE is_listed(
    'events',
    list_contains(
        (SELECT list(hash(coalesce(file_id, trace_id))) FROM traces),
        hash(parse_filename(filename, true))
    )
);

-- Events from the files of `hta-sql compact`, which hold several ranks of a job.
--
-- If a rank is ingested again, the rank gets a file of its own. This view then skips the rank's
-- old rows.
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
WHERE files_are_there('events')
    AND hash(parse_filename(filename, true), rank) IN (SELECT hash(file_id, rank) FROM traces);

CREATE OR REPLACE VIEW events AS
FROM events_by_rank
UNION ALL BY NAME
FROM events_by_job;
