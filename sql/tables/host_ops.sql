-- What the program's threads did: operators, annotations, Python functions, runtime and driver
-- calls, each with its place in the call stack of its thread.
--
-- reads: job_of_file, rank_of_file, traces
CREATE OR REPLACE MACRO host_ops_schema() AS TABLE
SELECT
    NULL::VARCHAR AS job,
    NULL::INTEGER AS rank,
    NULL::BIGINT AS event_id,
    NULL::VARCHAR AS cat,
    NULL::VARCHAR AS name,                  -- above 16 kB cut, with a hash at the end
    NULL::VARCHAR AS pid,                   -- cut like names
    NULL::VARCHAR AS tid,
    NULL::BIGINT AS start_ns,
    NULL::BIGINT AS dur_ns,
    NULL::BIGINT AS end_ns,
    NULL::BIGINT AS step,                   -- the step in which it began
    NULL::INTEGER AS depth,                 -- 0 for the outermost
    NULL::BIGINT AS parent_id,              -- event_id of the caller; NULL for the outermost
    NULL::BIGINT AS root_id,                -- event_id of the outermost caller, or itself
    NULL::BIGINT AS op_id,                  -- innermost operator around it
    NULL::BIGINT AS annotation_id,          -- innermost annotation around it
    NULL::BIGINT AS module_id,              -- innermost nn.Module call around it
    NULL::BIGINT AS caller_id,              -- of outermost ones of autograd threads: the annotation
                                            -- of the main thread that they ran in
    NULL::BOOLEAN AS is_backward,           -- it, or an operator around it, is of a backward pass
    NULL::BIGINT AS forward_id,             -- the forward operator whose backward pass that is
    NULL::UBIGINT AS stack_hash,            -- within a rank, equal where the names of the whole
                                            -- stack are, its own included
    NULL::BIGINT AS cut_ns,                 -- left the stack here, crossed by another; NULL: at end
    NULL::BIGINT AS correlation,
    NULL::BIGINT AS external_id,
    NULL::BIGINT AS record_function_id,     -- joins execution traces
    NULL::BIGINT AS sequence_number,        -- of autograd; joins forward and backward operators
    NULL::BIGINT AS fwd_thread_id,          -- of backward operators: where the forward one ran
    NULL::VARCHAR AS input_dims,            -- JSON: sizes of each argument; [] of what is no tensor
    NULL::VARCHAR AS input_types,           -- JSON: type of each argument
    NULL::VARCHAR AS concrete_inputs        -- JSON: value of each argument that is a number
WHERE false;

-- host_ops, of the files that hold one rank each.
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
WHERE list_contains(
    (SELECT list(hash(coalesce(file_id, trace_id))) FROM traces),
    hash(parse_filename(filename, true))
);

-- host_ops, of the files of `hta-sql compact`, which hold several ranks of a job.
--
-- A rank that was ingested anew has a file of its own, and its rows here no longer count.
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
WHERE hash(parse_filename(filename, true), rank) IN (SELECT hash(file_id, rank) FROM traces);

CREATE OR REPLACE VIEW host_ops AS
FROM host_ops_by_rank
UNION ALL BY NAME
FROM host_ops_by_job;
