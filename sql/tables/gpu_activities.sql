-- Every GPU activity (kernel, copy or memset), with its launch and step.
--
-- reads: job_of_file, rank_of_file, traces
CREATE OR REPLACE MACRO gpu_activities_schema() AS TABLE
SELECT
    NULL::VARCHAR AS job,
    NULL::INTEGER AS rank,
    NULL::BIGINT AS device,                 -- device argument; if there is none, the pid
    NULL::BIGINT AS stream,                 -- stream argument; if there is none, the tid
    NULL::BIGINT AS event_id,
    NULL::VARCHAR AS cat,
    NULL::VARCHAR AS kind,                  -- computation, communication or memory
    NULL::VARCHAR AS name,                  -- longer than 16 kB: cut, with a hash at the end
    NULL::VARCHAR AS short_name,            -- name without templates, parameters and return type
    NULL::BIGINT AS start_ns,
    NULL::BIGINT AS dur_ns,
    NULL::BIGINT AS end_ns,
    NULL::BIGINT AS computed_before_ns,     -- computing time of its device before start_ns
    NULL::BIGINT AS hidden_ns,              -- computing time within dur_ns; NULL for computation
    NULL::BIGINT AS step,                   -- step in which its launch began
    NULL::BIGINT AS correlation,
    NULL::BIGINT AS external_id,
    NULL::BIGINT AS launch_id,              -- event_id of the launching call; NULL: none
    NULL::VARCHAR AS launch_name,
    NULL::VARCHAR AS launch_pid,
    NULL::VARCHAR AS launch_tid,
    NULL::BIGINT AS launch_start_ns,
    NULL::BIGINT AS launch_end_ns,
    NULL::BIGINT AS op_id,                  -- its operator: event_id of the innermost one around
                                            -- launch_id. Below 0: replayed, in host_calls
    NULL::BIGINT AS annotation_id,          -- event_id of the innermost annotation around launch_id
    NULL::BIGINT AS recorded_id,            -- of a replay: the launch that was recorded into the
                                            -- graph, in host_calls. NULL: not known
    NULL::VARCHAR AS attributed_by,         -- how op_id is known. launch: made inside op_id.
                                            -- capture, graph node: recorded inside op_id. replay:
                                            -- only the graph launch is known, and op_id is around
                                            -- it. NULL: no operator
    NULL::DOUBLE AS attribution_confidence, -- how sure op_id is, from 0 to 1
    NULL::BIGINT AS bytes,                  -- bytes of a copy or memset
    NULL::DOUBLE AS bandwidth_gbps,         -- as the trace reports it, 1e9 bytes per second
    NULL::BIGINT[] AS grid,                 -- blocks in x, y, z
    NULL::BIGINT[] AS block,                -- threads in x, y, z
    NULL::BIGINT AS registers_per_thread,
    NULL::BIGINT AS shared_memory_bytes,    -- per block, static and dynamic
    NULL::DOUBLE AS blocks_per_sm,
    NULL::DOUBLE AS warps_per_sm,
    NULL::DOUBLE AS occupancy_frac,         -- occupancy, as estimated by the profiler
    NULL::BIGINT AS graph_id,               -- id of the CUDA graph; 0 or NULL: none
    NULL::BIGINT AS graph_node_id,
    NULL::VARCHAR AS collective_name,
    NULL::VARCHAR AS dtype,
    NULL::BIGINT AS in_nelems,              -- elements in the input message
    NULL::BIGINT AS out_nelems,
    NULL::VARCHAR AS in_split_sizes,
    NULL::VARCHAR AS out_split_sizes,
    NULL::BIGINT AS group_size,
    NULL::VARCHAR AS process_group_name,
    NULL::VARCHAR AS process_group_desc,
    NULL::VARCHAR AS process_group_ranks,   -- as the trace writes it, perhaps shortened
    NULL::BIGINT AS group_start_rank,       -- first rank of a group with evenly spaced ranks
    NULL::BIGINT AS group_stride,           -- distance between these ranks; -1: uneven
    NULL::BIGINT AS src_rank,               -- of a receive: rank that sends
    NULL::BIGINT AS dst_rank,               -- of a send: rank that receives
    NULL::BIGINT AS seq,                    -- sequence number of the call in the process group
    NULL::UBIGINT AS comms_id               -- id that all members of a collective share; 64 bits
WHERE false;

-- GPU activities from the files that hold one rank each.
CREATE OR REPLACE VIEW gpu_activities_by_rank AS
FROM gpu_activities_schema()
UNION ALL BY NAME
SELECT
    * EXCLUDE (filename), job_of_file(filename) AS job, rank_of_file(filename) AS rank,
    start_ns + dur_ns AS end_ns
FROM read_parquet(
    rank_files('gpu_activities'), filename = true,
    hive_partitioning = false, union_by_name = archive_is_mixed()
)
WHERE is_listed(
    'gpu_activities',
    list_contains(
        (SELECT list(hash(coalesce(file_id, trace_id))) FROM traces),
        hash(parse_filename(filename, true))
    )
);

-- GPU activities from the files of `hta-sql compact`, which hold several ranks of a job.
--
-- If a rank is ingested again, the rank gets a file of its own. This view then skips the rank's
-- old rows.
CREATE OR REPLACE VIEW gpu_activities_by_job AS
FROM gpu_activities_schema()
UNION ALL BY NAME
SELECT
    * EXCLUDE (filename), job_of_file(filename) AS job,
    start_ns + dur_ns AS end_ns
FROM read_parquet(
    job_files('gpu_activities'), filename = true,
    hive_partitioning = false, union_by_name = archive_is_mixed()
)
WHERE files_are_there('gpu_activities')
    AND hash(parse_filename(filename, true), rank) IN (SELECT hash(file_id, rank) FROM traces);

-- shared: session
CREATE OR REPLACE VIEW gpu_activities AS
FROM gpu_activities_by_rank
UNION ALL BY NAME
FROM gpu_activities_by_job;
