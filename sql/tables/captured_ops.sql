-- One row per host operation at or around a launch that was recorded into a CUDA or HIP graph, and
-- per operator directly inside such an operation that shows sizes which its arguments do not.
--
-- The launches of a graph come from a capture trace, or from the trace itself if it covers the
-- capture. A replay of the graph runs the same launches again, without the host. graph_replays has
-- the replays.
--
-- reads: job_of_file, rank_of_file, traces
CREATE OR REPLACE MACRO captured_ops_schema() AS TABLE
SELECT
    NULL::VARCHAR AS job,
    NULL::INTEGER AS rank,
    NULL::BIGINT AS graph,             -- number of the graph, in the order of the captures
    NULL::VARCHAR AS graph_name,       -- annotation around the capture, such as capture_32_FULL
    NULL::BIGINT AS batch_size,        -- batch size for which it was captured; NULL: not known
    NULL::BIGINT AS node,              -- of a launch: its place in the graph, from 0
    NULL::VARCHAR AS node_kind,        -- of a launch: kernel, memcpy or memset
    NULL::VARCHAR AS kernel_name,      -- of a launch: the kernel, if the trace has its name
    NULL::BIGINT[] AS grid,            -- of a launch: blocks in x, y, z, if recorded
    NULL::BIGINT AS captured_id,       -- identifies the operation among those of its rank
    NULL::BOOLEAN AS is_around,        -- whether it is at or around a launch
    NULL::VARCHAR AS cat,
    NULL::VARCHAR AS name,
    NULL::INTEGER AS depth,            -- 0 for the outermost within the capture
    NULL::BIGINT AS parent_id,         -- captured_id of the caller; NULL for the outermost
    NULL::BIGINT AS op_id,             -- captured_id of the innermost operator around it
    NULL::BIGINT AS annotation_id,     -- captured_id of the innermost annotation around it
    NULL::BIGINT AS module_id,         -- captured_id of the innermost nn.Module around it
    NULL::BOOLEAN AS is_backward,
    NULL::UBIGINT AS stack_hash,       -- hash of all names on its stack
    NULL::VARCHAR AS input_dims,
    NULL::VARCHAR AS input_types,
    NULL::VARCHAR AS concrete_inputs
WHERE false;

-- shared: session
CREATE OR REPLACE VIEW captured_ops AS
FROM captured_ops_schema()
UNION ALL BY NAME
SELECT
    * EXCLUDE (filename), job_of_file(filename) AS job, rank_of_file(filename) AS rank
FROM read_parquet(
    rank_files('captured_ops'), filename = true,
    hive_partitioning = false, union_by_name = archive_is_mixed()
)
WHERE is_listed(
    'captured_ops',
    list_contains((SELECT list(hash(trace_id)) FROM traces), hash(parse_filename(filename, true)))
);
