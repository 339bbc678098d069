-- Operations of the host, and the captured operations of each replay of a graph.
--
-- A replayed operation has the columns of host_ops. It stands below the graph launch, and it takes
-- no time of the host: the GPU runs its kernels without the host. Its ids are those of
-- replayed_id, below 0. op_id and recorded_id in gpu_activities refer to it.
--
--     host_ops          cudaGraphLaunch
--     replayed             aten::linear
--     replayed                aten::addmm
--     replayed                   cudaLaunchKernel      recorded_id of a kernel of the replay
--
-- reads: captured_ops, graph_replays, host_ops, replayed_id

-- Every captured operation of each replay, with is_around as in captured_ops.
--
-- shared: session
CREATE OR REPLACE VIEW replayed_calls AS
SELECT
    r.job,
    r.rank,
    replayed_id(r.replay, c.captured_id) AS event_id,
    c.cat,
    c.name,
    r.pid,
    r.tid,
    r.start_ns,
    0::BIGINT AS dur_ns,
    r.start_ns AS end_ns,
    r.step,
    (r.depth + 1 + c.depth)::INTEGER AS depth,
    coalesce(replayed_id(r.replay, c.parent_id), r.launch_id) AS parent_id,
    r.root_id,
    coalesce(replayed_id(r.replay, c.op_id), r.op_id) AS op_id,
    coalesce(replayed_id(r.replay, c.annotation_id), r.annotation_id) AS annotation_id,
    coalesce(replayed_id(r.replay, c.module_id), r.module_id) AS module_id,
    c.is_backward,
    c.stack_hash,
    c.input_dims,
    c.input_types,
    c.concrete_inputs,
    c.is_around
FROM graph_replays AS r
JOIN captured_ops AS c ON c.job = r.job AND c.rank = r.rank AND c.graph = r.graph;

-- Every operation of the host, and the operations at or around a launch of each replay.
--
-- shared: session
CREATE OR REPLACE VIEW host_calls AS
FROM host_ops
UNION ALL BY NAME
SELECT * EXCLUDE (is_around)
FROM replayed_calls
WHERE is_around;

-- The same, and the captured operators that only show sizes.
--
-- shared: session
CREATE OR REPLACE VIEW shaped_calls AS
FROM host_ops
UNION ALL BY NAME
SELECT * EXCLUDE (is_around)
FROM replayed_calls;
