-- Every operator, annotation, Python function, and runtime or driver call on the host, with its
-- place in the call stack of its thread.
--
-- reads: job_of_file, rank_of_file, traces
CREATE OR REPLACE MACRO host_ops_schema() AS TABLE
SELECT
    NULL::VARCHAR AS job,
    NULL::INTEGER AS rank,
    NULL::BIGINT AS event_id,
    NULL::VARCHAR AS cat,
    NULL::VARCHAR AS name,                  -- longer than 16 kB: cut, with a hash at the end
    NULL::VARCHAR AS pid,                   -- process id, cut in the same way
    NULL::VARCHAR AS tid,
    NULL::BIGINT AS start_ns,
    NULL::BIGINT AS dur_ns,
    NULL::BIGINT AS end_ns,
    NULL::BIGINT AS step,                   -- step in which the span began
    NULL::INTEGER AS depth,                 -- 0 for the outermost
    NULL::BIGINT AS parent_id,              -- event_id of the caller; NULL for the outermost
    NULL::BIGINT AS root_id,                -- event_id of the outermost caller, or itself
    NULL::BIGINT AS op_id,                  -- event_id of the innermost operator around the span
    NULL::BIGINT AS annotation_id,          -- event_id of the innermost annotation around the span
    NULL::BIGINT AS module_id,              -- event_id of the innermost nn.Module around the span
    NULL::BIGINT AS caller_id,              -- of outermost autograd spans: annotation around them
                                            -- (its event_id), which is on the main thread
    NULL::BOOLEAN AS is_backward,           -- is, or is inside, an operator of a backward pass
    NULL::BIGINT AS forward_id,             -- event_id of the backward operator's forward operator
    NULL::UBIGINT AS stack_hash,            -- hash of all names on its stack, its own included,
                                            -- to compare stacks within a rank
    NULL::BIGINT AS cut_ns,                 -- when the span left the stack early; NULL: at its end
    NULL::BIGINT AS correlation,
    NULL::BIGINT AS external_id,
    NULL::BIGINT AS record_function_id,     -- id that joins execution_nodes
    NULL::BIGINT AS sequence_number,        -- of autograd; joins forward and backward operators
    NULL::BIGINT AS fwd_thread_id,          -- backward operators: autograd's id of forward thread
    NULL::VARCHAR AS input_dims,            -- JSON: sizes of each argument; [] if not a tensor
    NULL::VARCHAR AS input_types,           -- JSON: type of each argument
    NULL::VARCHAR AS concrete_inputs        -- JSON: values of numbers, "" for tensors
WHERE false;

-- Host operations from the files that hold one rank each.
CREATE OR REPLACE VIEW host_ops_by_rank AS
FROM host_ops_schema()
UNION ALL BY NAME
SELECT
    * EXCLUDE (filename), job_of_file(filename) AS job, rank_of_file(filename) AS rank,
    start_ns + dur_ns AS end_ns
FROM read_parquet(
    rank_files('host_ops'), filename = true,
    hive_partitioning = false, union_by_name = archive_is_mixed()
)
WHERE is_listed(
    'host_ops',
    list_contains(
        (SELECT list(hash(coalesce(file_id, trace_id))) FROM traces),
        hash(parse_filename(filename, true))
    )
);

-- Host operations from the files of `hta-sql compact`, which hold several ranks of a job.
--
-- If a rank is ingested again, the rank gets a file of its own. This view then skips the rank's
-- old rows.
CREATE OR REPLACE VIEW host_ops_by_job AS
FROM host_ops_schema()
UNION ALL BY NAME
SELECT
    * EXCLUDE (filename), job_of_file(filename) AS job,
    start_ns + dur_ns AS end_ns
FROM read_parquet(
    job_files('host_ops'), filename = true,
    hive_partitioning = false, union_by_name = archive_is_mixed()
)
WHERE files_are_there('host_ops')
    AND hash(parse_filename(filename, true), rank) IN (SELECT hash(file_id, rank) FROM traces);

-- shared: session
CREATE OR REPLACE VIEW host_ops AS
FROM host_ops_by_rank
UNION ALL BY NAME
FROM host_ops_by_job;
