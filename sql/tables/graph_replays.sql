-- One row per graph launch whose graph is known: the captured graph that it replays.
--
-- reads: job_of_file, rank_of_file, traces
CREATE OR REPLACE MACRO graph_replays_schema() AS TABLE
SELECT
    NULL::VARCHAR AS job,
    NULL::INTEGER AS rank,
    NULL::BIGINT AS replay,            -- number of the replay, from 0
    NULL::BIGINT AS graph,             -- graph in captured_ops
    NULL::BIGINT AS activity_count,    -- GPU activities of the replay
    NULL::BIGINT AS attributed_count,  -- those whose launch in the graph is known
    NULL::BIGINT AS launch_id,         -- event_id of the graph launch
    NULL::VARCHAR AS pid,              -- process and thread of the graph launch
    NULL::VARCHAR AS tid,
    NULL::BIGINT AS start_ns,          -- start of the graph launch
    NULL::BIGINT AS step,              -- step of the graph launch
    NULL::INTEGER AS depth,            -- operations around the graph launch on its thread
    NULL::BIGINT AS root_id,           -- the outermost of them, or the launch itself
    NULL::BIGINT AS op_id,             -- the innermost operator around the graph launch
    NULL::BIGINT AS annotation_id,     -- the innermost annotation
    NULL::BIGINT AS module_id          -- the innermost nn.Module
WHERE false;

-- shared: session
CREATE OR REPLACE VIEW graph_replays AS
FROM graph_replays_schema()
UNION ALL BY NAME
SELECT
    * EXCLUDE (filename), job_of_file(filename) AS job, rank_of_file(filename) AS rank
FROM read_parquet(
    rank_files('graph_replays'), filename = true,
    hive_partitioning = false, union_by_name = archive_is_mixed()
)
WHERE is_listed(
    'graph_replays',
    list_contains((SELECT list(hash(trace_id)) FROM traces), hash(parse_filename(filename, true)))
);
