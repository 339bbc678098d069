-- One row per node of PyTorch's execution traces: an operator or annotation with its inputs and
-- outputs.
--
-- reads: attachments, job_of_file, rank_of_file
CREATE OR REPLACE MACRO execution_nodes_schema() AS TABLE
SELECT
    NULL::VARCHAR AS job,
    NULL::INTEGER AS rank,
    NULL::BIGINT AS position,             -- 0-based in the file, in the order in which calls end
    NULL::BIGINT AS node_id,
    NULL::BIGINT AS parent_id,            -- node_id of the caller; NULL for the root
    NULL::VARCHAR AS name,
    NULL::BIGINT AS record_function_id,   -- id that joins host_ops; NULL for process and threads
    NULL::BIGINT AS sequence_number,      -- of autograd; joins forward and backward operators
    NULL::BIGINT AS scope,                -- 0 operator, 1 backward function, 7 annotation
    NULL::BIGINT AS thread_id,            -- PyTorch's number of the thread, not the system's
    NULL::BIGINT AS forward_thread_id,    -- of backward operators: thread of the forward one
    NULL::BIGINT AS forward_parent_id,    -- of backward operators: node_id open on forward thread
    NULL::VARCHAR AS op_schema,           -- such as aten::mm(Tensor self, Tensor mat2) -> Tensor
    NULL::VARCHAR AS kernel_backend,      -- backend of a generated kernel, such as triton
    NULL::VARCHAR AS kernel_file,         -- file of a generated kernel
    NULL::VARCHAR AS inputs,              -- JSON: values; for tensors ids, size and device
    NULL::VARCHAR AS input_shapes,        -- JSON, like all columns below
    NULL::VARCHAR AS input_types,
    NULL::VARCHAR AS input_strides,       -- only written by newer versions of PyTorch
    NULL::VARCHAR AS outputs,
    NULL::VARCHAR AS output_shapes,
    NULL::VARCHAR AS output_types,
    NULL::VARCHAR AS output_strides,
    NULL::VARCHAR AS attributes           -- all other keys: collective, process group, sizes, …
WHERE false;

-- The nodes of the archive's execution traces.
--
-- The view skips data files that attachments.parquet does not list.
--
-- shared: session
CREATE OR REPLACE VIEW execution_nodes AS
FROM execution_nodes_schema()
UNION ALL BY NAME
SELECT
    * EXCLUDE (filename), job_of_file(filename) AS job, rank_of_file(filename) AS rank
FROM read_parquet(
    rank_files('execution_nodes'), filename = true,
    hive_partitioning = false, union_by_name = archive_is_mixed()
)
WHERE is_listed(
    'execution_nodes',
    list_contains(
        (SELECT list(hash(file_id)) FROM attachments),
        hash(parse_filename(filename, true))
    )
);
