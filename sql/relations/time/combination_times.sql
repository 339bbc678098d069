-- One row per job, rank, device and combination of labels: how long exactly these labels ran.
--
-- `activities` needs job, rank, device, label, start_ns and end_ns. Returns job, rank, device,
-- labels (the labels of the combination in alphabetical order, joined by +) and time_ns (above 0).
--
--     a           [=======)            a    3 + 1
--     b      [===)   [====)            b    3
--     a               [======)         a+b  1 + 5
--
-- Each label has a weight: a power of two. When a label begins to run, its weight is added, and
-- when it ends, its weight is subtracted. So the sum of all changes up to an instant shows which
-- labels run. Activities of the same label may overlap: only the part of an activity after the end
-- of all earlier ones of its label counts, so that no weight is added twice.
--
-- As in busy_times, devices are laid end to end on one axis of time, 1 ns apart. For the parts of
-- activities, the labels of the devices (lanes) are laid end to end.
CREATE OR REPLACE MACRO combination_times(activities) AS TABLE
WITH
labelled AS MATERIALIZED (
    SELECT job, rank, device, label, start_ns, end_ns
    FROM query_table(activities)
),
spans AS (
    SELECT
        job,
        rank,
        device,
        label,
        min(start_ns) AS first_ns,
        max(end_ns) - min(start_ns) + 1 AS span_ns,
        min(min(start_ns)) OVER of_device AS device_first_ns,
        max(max(end_ns)) OVER of_device - min(min(start_ns)) OVER of_device + 1 AS device_span_ns,
        row_number() OVER (PARTITION BY job, rank, device ORDER BY label) = 1 AS is_first
    FROM labelled
    GROUP BY job, rank, device, label
    WINDOW of_device AS (PARTITION BY job, rank, device)
),
lanes AS MATERIALIZED (
    SELECT
        job,
        rank,
        device,
        label,
        sum(is_first::INTEGER) OVER in_order AS device_number,
        pow(2, dense_rank() OVER (ORDER BY label) - 1)::HUGEINT AS weight,
        (sum(span_ns) OVER in_order - span_ns - first_ns)::BIGINT AS lane_shift_ns,
        (sum(CASE WHEN is_first THEN device_span_ns END) OVER in_order
            - device_span_ns - device_first_ns)::BIGINT AS device_shift_ns
    FROM spans
    WINDOW in_order AS (ORDER BY job, rank, device, label ROWS UNBOUNDED PRECEDING)
),
on_lanes AS (
    SELECT
        l.device_number,
        l.weight,
        l.device_shift_ns - l.lane_shift_ns AS to_device_ns,
        a.start_ns + l.lane_shift_ns AS start_ns,
        a.end_ns + l.lane_shift_ns AS end_ns
    FROM labelled AS a
    JOIN lanes AS l
        ON l.job = a.job
        AND l.rank = a.rank
        AND l.device IS NOT DISTINCT FROM a.device
        AND l.label = a.label
),
parts AS (
    SELECT
        device_number,
        weight,
        to_device_ns + greatest(
            start_ns,
            max(end_ns) OVER (
                ORDER BY start_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            )
        ) AS from_ns,
        to_device_ns + end_ns AS until_ns
    FROM on_lanes
),
edges AS (
    SELECT
        device_number,
        unnest([from_ns, until_ns]) AS at_ns,
        unnest([weight, -weight]) AS change
    FROM parts
    WHERE from_ns < until_ns
),
instants AS (
    SELECT device_number, at_ns, sum(change) AS change
    FROM edges
    GROUP BY device_number, at_ns
),
stretches AS (
    SELECT
        device_number,
        sum(change) OVER in_order AS running,
        lead(at_ns) OVER (ORDER BY at_ns) - at_ns AS time_ns
    FROM instants
    WINDOW in_order AS (ORDER BY at_ns ROWS UNBOUNDED PRECEDING)
),
totals AS (
    SELECT device_number, running, sum(time_ns)::BIGINT AS time_ns
    FROM stretches
    WHERE running > 0
    GROUP BY device_number, running
)
SELECT
    any_value(l.job) AS job,
    any_value(l.rank) AS rank,
    any_value(l.device) AS device,
    string_agg(l.label, '+' ORDER BY l.label) AS labels,
    t.time_ns
FROM totals AS t
JOIN lanes AS l
    ON l.device_number = t.device_number
    AND (t.running // l.weight) % 2 = 1
GROUP BY t.device_number, t.running, t.time_ns;
