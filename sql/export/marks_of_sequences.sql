-- Marks a rank's operators that launch one of the most frequent sequences of kernels.
--
-- The host events inside such an operator on its thread get the same mark as the operator. The GPU
-- activities that the operator launches also get this mark. The mark is the sequence and its count.
--
-- Variables: export_min_length, the least number of activities in a sequence.
INSERT INTO export_marks
WITH
inside AS (
    SELECT *
    FROM export_nested
    WHERE is_inside AND (is_activity OR event_id <> op_event_id)
),
sequences AS (
    SELECT
        op_event_id,
        string_agg(name, ' | ' ORDER BY start_ns, event_id) AS sequence,
        count(*) AS kernel_count
    FROM inside
    WHERE is_activity
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
    FROM export_operators AS ops
    LEFT JOIN sequences ON sequences.op_event_id = ops.event_id
    JOIN frequent
        ON frequent.op_name = ops.op_name
        AND frequent.sequence = coalesce(sequences.sequence, '')
    WHERE coalesce(sequences.kernel_count, 0) >= getvariable('export_min_length')
)
SELECT event_id, members
FROM marked_ops
UNION ALL
SELECT i.event_id, m.members
FROM inside AS i
JOIN marked_ops AS m ON m.event_id = i.op_event_id
