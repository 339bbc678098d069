-- A whole number among the arguments of an event; -1 without it.
CREATE OR REPLACE MACRO hta_number(args, key) AS
coalesce(TRY_CAST(json_extract_string(args, key) AS BIGINT), -1);

-- The rows of HTA's trace data frames, with names and categories as text: one row per span, in the
-- order of the file.
--
-- `is_device`: whether the row is a GPU activity. index_correlation is the `index` of the other
-- side of a launch: 0 if the trace has none, -1 without a correlation id.
CREATE OR REPLACE VIEW hta_rows AS
WITH
launched AS (
    SELECT a.rank, a.launch_id AS event_id, max(a.event_id) AS partner_id
    FROM gpu_activities AS a
    WHERE a.launch_id IS NOT NULL
    GROUP BY a.rank, a.launch_id
),
device AS (
    SELECT
        a.rank,
        a.event_id,
        a.stream,
        a.start_ns,
        a.dur_ns,
        a.step,
        a.launch_id AS partner_id,
        a.bytes,
        a.bandwidth_gbps,
        a.short_name,
        true AS is_device
    FROM gpu_activities AS a
),
host AS (
    SELECT
        e.rank,
        e.event_id,
        e.stream,
        e.start_ns,
        e.dur_ns,
        h.step,
        launched.partner_id,
        NULL::BIGINT AS bytes,
        NULL::DOUBLE AS bandwidth_gbps,
        NULL::VARCHAR AS short_name,
        false AS is_device
    FROM events AS e
    ANTI JOIN recorded_activities AS a ON a.rank = e.rank AND a.event_id = e.event_id
    LEFT JOIN host_ops AS h ON h.rank = e.rank AND h.event_id = e.event_id
    LEFT JOIN launched ON launched.rank = e.rank AND launched.event_id = e.event_id
    WHERE e.dur_ns IS NOT NULL AND e.cat <> 'Trace'
)
SELECT
    k.rank,
    k.event_id AS index,
    e.cat,
    e.name,
    coalesce(k.short_name, short_name(e.name)) AS short_name,
    coalesce(TRY_CAST(e.pid AS BIGINT), -1) AS pid,
    coalesce(TRY_CAST(e.tid AS BIGINT), -1) AS tid,
    k.start_ns - r.first_ns AS ts_ns,
    k.dur_ns,
    coalesce(k.stream, -1) AS stream,
    coalesce(e.correlation, -1) AS correlation,
    coalesce(k.bytes, -1) AS bytes,
    coalesce(k.bandwidth_gbps, 0) AS memory_bw_gbps,
    CASE WHEN e.cat = 'cuda_sync' THEN hta_number(e.args, 'wait_on_stream') ELSE -1 END
        AS wait_on_stream,
    CASE
        WHEN e.cat = 'cuda_sync' THEN hta_number(e.args, 'wait_on_cuda_event_record_corr_id')
        ELSE -1
    END AS wait_on_cuda_event_record_corr_id,
    coalesce(e.input_dims, '-1') AS input_dims,
    coalesce(e.input_types, '-1') AS input_type,
    CASE
        WHEN e.input_dims IS NOT NULL THEN coalesce(e.args ->> '$."Input Strides"', '-1')
        ELSE '-1'
    END AS input_strides,
    coalesce(e.external_id, -1) AS external_id,
    coalesce(k.partner_id, CASE WHEN e.correlation IS NULL THEN -1 ELSE 0 END)
        AS index_correlation,
    coalesce(k.step, -1) AS iteration,
    k.is_device
FROM (FROM device UNION ALL BY NAME FROM host) AS k
JOIN recorded_events AS e ON e.rank = k.rank AND e.event_id = k.event_id
JOIN hta_ranks AS r ON r.rank = k.rank;
