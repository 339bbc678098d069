-- A rank's operators with the most frequent sequences of kernels, all host events inside of them on
-- their thread, and their GPU activities, are marked with the sequence and how often it is there.
--
-- Variables: export_job, export_rank; export_operator, export_min_length and export_top_k.
INSERT INTO export_marks
WITH
ops AS MATERIALIZED (
    FROM outermost_operators(
        getvariable('export_operator'), [getvariable('export_job')],
        [getvariable('export_rank')], NULL::BIGINT[]
    )
),
launched AS (
    SELECT
        a.job,
        a.rank,
        a.event_id,
        coalesce(a.name, '') AS name,
        a.start_ns,
        a.launch_id AS call_id,
        a.launch_pid AS call_pid,
        a.launch_tid AS call_tid,
        a.launch_start_ns AS call_start_ns,
        a.launch_end_ns AS call_end_ns
    FROM gpu_activities AS a
    WHERE a.job = getvariable('export_job')
      AND a.rank = getvariable('export_rank')
      AND a.launch_id IS NOT NULL
),
pairs AS MATERIALIZED (
    FROM last_operators_before(ops, launched)
),
sequences AS (
    SELECT
        op_event_id,
        string_agg(name, ' | ' ORDER BY start_ns, event_id) AS sequence,
        count(*) AS kernel_count
    FROM pairs
    WHERE is_inside
    GROUP BY op_event_id
),
frequent AS (
    SELECT
        f.operator AS op_name,
        f.sequence,
        '"Patterns":' || json_object(f.sequence, f.count)::VARCHAR AS members
    FROM export_sequences AS f
),
marked_ops AS MATERIALIZED (
    SELECT ops.event_id, frequent.members
    FROM ops
    LEFT JOIN sequences ON sequences.op_event_id = ops.event_id
    JOIN frequent
        ON frequent.op_name = ops.op_name
        AND frequent.sequence = coalesce(sequences.sequence, '')
    WHERE coalesce(sequences.kernel_count, 0) >= getvariable('export_min_length')
),
host_events AS (
    SELECT
        o.job,
        o.rank,
        o.event_id,
        o.event_id AS call_id,
        o.pid AS call_pid,
        o.tid AS call_tid,
        o.start_ns AS call_start_ns,
        o.end_ns AS call_end_ns
    FROM host_ops AS o
    WHERE o.job = getvariable('export_job') AND o.rank = getvariable('export_rank')
),
-- Materialised, as pairs: a condition on is_inside would get into the joins, and every event meet
-- every operator.
nested AS MATERIALIZED (
    SELECT event_id, op_event_id, is_inside
    FROM last_operators_before(ops, host_events)
),
beneath AS (
    SELECT event_id, op_event_id
    FROM nested
    WHERE is_inside AND event_id <> op_event_id
    UNION ALL
    SELECT event_id, op_event_id
    FROM pairs
    WHERE is_inside
)
SELECT event_id, members
FROM marked_ops
UNION ALL
SELECT b.event_id, m.members
FROM beneath AS b
JOIN marked_ops AS m ON m.event_id = b.op_event_id
