-- One row per GPU activity, with its kind, its launch and the launch's step, in no fixed order.
--
-- The rows are wide. They are the left side of every join, because DuckDB streams the left side and
-- holds the right side in memory. A sort in DuckDB would also hold the wide rows in memory. So
-- Python orders the rows (hta_sql/ingestion/gpu_activities.py).
WITH
activities AS (
    SELECT
        e.event_id,
        e.cat,
        e.name,
        e.start_ns,
        e.dur_ns,
        e.correlation,
        e.external_id,
        coalesce(e.device, TRY_CAST(e.pid AS BIGINT)) AS device,
        coalesce(e.stream, TRY_CAST(e.tid AS BIGINT)) AS stream,
        json_transform(
            without_long_sizes(e.args),
            '{"bytes": "BIGINT", "memory bandwidth (GB/s)": "DOUBLE",
              "grid": ["BIGINT"], "block": ["BIGINT"],
              "registers per thread": "BIGINT", "shared memory": "BIGINT",
              "blocks per SM": "DOUBLE", "warps per SM": "DOUBLE",
              "est. achieved occupancy %": "DOUBLE",
              "graph id": "BIGINT", "graph node id": "BIGINT",
              "Collective name": "VARCHAR", "dtype": "VARCHAR",
              "In msg nelems": "BIGINT", "Out msg nelems": "BIGINT",
              "In split size": "VARCHAR", "Out split size": "VARCHAR",
              "Group size": "BIGINT", "Process Group Name": "VARCHAR",
              "Process Group Description": "VARCHAR", "Process Group Ranks": "VARCHAR",
              "Src Rank": "BIGINT", "Dst Rank": "BIGINT",
              "Seq": "BIGINT", "Comms Id": "UBIGINT"}'
        ) AS details
    FROM trace_events AS e
    WHERE e.ph = 'X' AND is_gpu_activity(e.cat)
),
-- One row per operator of a collective: arguments that its kernels lack. An external id of 0 stands
-- for no operator.
groups AS (
    SELECT
        external_id,
        any_value(TRY_CAST(said[1] AS BIGINT)) AS start_rank,
        any_value(TRY_CAST(said[2] AS BIGINT)) AS stride
    FROM (
        SELECT
            external_id,
            json_extract_string(args, ['Global rank start', 'Global rank stride']) AS said
        FROM trace_events
        WHERE name = 'record_param_comms' AND external_id <> 0
    )
    GROUP BY external_id
),
of_kinds AS (
    SELECT
        a.*,
        kernel_kind(is_copy_or_memset(a.cat), a.details."Collective name", names.kind) AS kind,
        names.short_name
    FROM activities AS a
    LEFT JOIN activity_names AS names ON names.name IS NOT DISTINCT FROM a.name
)
SELECT
    a.device,
    a.stream,
    a.event_id,
    a.cat,
    a.kind,
    a.name,
    CASE WHEN a.kind = 'memory' THEN a.name ELSE a.short_name END AS short_name,
    a.start_ns,
    a.dur_ns,
    -- 12_computed_before.sql computes these two columns from all activities of a device.
    NULL::BIGINT AS computed_before_ns,
    NULL::BIGINT AS hidden_ns,
    launches.step,
    a.correlation,
    a.external_id,
    launches.launch_id,
    launches.launch_name,
    launches.launch_pid,
    launches.launch_tid,
    launches.launch_start_ns,
    launches.launch_end_ns,
    CASE WHEN replayed.event_id IS NULL THEN launches.op_id ELSE replayed.op_id END AS op_id,
    launches.annotation_id,
    replayed.recorded_id,
    CASE
        WHEN replayed.event_id IS NOT NULL THEN replayed.attributed_by
        WHEN contains(launches.launch_name, 'GraphLaunch') THEN 'replay'
        WHEN launches.op_id IS NOT NULL THEN 'launch'
    END AS attributed_by,
    CASE
        WHEN replayed.event_id IS NOT NULL THEN replayed.confidence
        WHEN launches.op_id IS NOT NULL AND NOT contains(launches.launch_name, 'GraphLaunch') THEN 1
    END::DOUBLE AS attribution_confidence,
    a.details.bytes AS bytes,
    a.details."memory bandwidth (GB/s)" AS bandwidth_gbps,
    a.details.grid AS grid,
    a.details.block AS block,
    a.details."registers per thread" AS registers_per_thread,
    a.details."shared memory" AS shared_memory_bytes,
    a.details."blocks per SM" AS blocks_per_sm,
    a.details."warps per SM" AS warps_per_sm,
    a.details."est. achieved occupancy %" / 100 AS occupancy_frac,
    a.details."graph id" AS graph_id,
    a.details."graph node id" AS graph_node_id,
    a.details."Collective name" AS collective_name,
    a.details.dtype AS dtype,
    a.details."In msg nelems" AS in_nelems,
    a.details."Out msg nelems" AS out_nelems,
    a.details."In split size" AS in_split_sizes,
    a.details."Out split size" AS out_split_sizes,
    a.details."Group size" AS group_size,
    a.details."Process Group Name" AS process_group_name,
    a.details."Process Group Description" AS process_group_desc,
    a.details."Process Group Ranks" AS process_group_ranks,
    groups.start_rank AS group_start_rank,
    groups.stride AS group_stride,
    a.details."Src Rank" AS src_rank,
    a.details."Dst Rank" AS dst_rank,
    a.details.Seq AS seq,
    a.details."Comms Id" AS comms_id
FROM of_kinds AS a
LEFT JOIN launches ON launches.correlation = a.correlation
LEFT JOIN replayed ON replayed.event_id = a.event_id
LEFT JOIN groups ON a.details."Collective name" <> '' AND groups.external_id = a.external_id
