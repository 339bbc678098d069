-- One row per GPU activity, in the order of the table gpu_activities.
--
--     computed_before_ns  how long the device computed between the start of the trace and start_ns
--     hidden_ns           how long the device computed during the activity; NULL if the activity is
--                         computation
WITH
-- One row per instant up to which computing time is counted: the start of each activity, and the
-- end of each activity that is not a computation. end_ns is the end of a computation (NULL: other
-- rows).
moments AS (
    SELECT
        device,
        event_id,
        false AS is_end,
        start_ns AS at_ns,
        CASE WHEN kind = 'computation' THEN start_ns + dur_ns END AS end_ns
    FROM activity_spans
    UNION ALL
    SELECT device, event_id, true AS is_end, start_ns + dur_ns AS at_ns, NULL::BIGINT AS end_ns
    FROM activity_spans
    WHERE kind <> 'computation'
),
-- As in covered_until, each computation adds the part that lies after the latest end of all earlier
-- computations.
reached AS (
    SELECT
        *,
        coalesce(max(end_ns) OVER (
            PARTITION BY device ORDER BY at_ns, event_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ), at_ns) AS until_ns
    FROM moments
),
computed AS (
    SELECT
        event_id,
        is_end,
        coalesce(sum(greatest(0, end_ns - greatest(at_ns, until_ns))) OVER (
            PARTITION BY device ORDER BY at_ns, event_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ), 0)::BIGINT - greatest(0, until_ns - at_ns) AS computed_ns
    FROM reached
),
computed_around AS (
    SELECT
        event_id,
        any_value(computed_ns) FILTER (NOT is_end) AS before_start_ns,
        any_value(computed_ns) FILTER (is_end) AS before_end_ns
    FROM computed
    GROUP BY event_id
)
SELECT
    a.event_id,
    c.before_start_ns AS computed_before_ns,
    c.before_end_ns - c.before_start_ns AS hidden_ns
FROM activity_spans AS a
JOIN computed_around AS c ON c.event_id = a.event_id
ORDER BY a.device, a.start_ns, a.event_id
