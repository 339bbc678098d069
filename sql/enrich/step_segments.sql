-- The trace's time cut where steps begin and end, each stretch with its step.
--
-- Steps hardly ever overlap; where they do, the one that began last counts.
CREATE OR REPLACE TEMP TABLE step_segments AS
WITH
steps AS (
    SELECT
        event_id,
        step_number(name) AS step,
        start_ns,
        start_ns + dur_ns AS end_ns
    FROM trace_events
    WHERE ph = 'X'
      AND prefix(name, 'ProfilerStep')
      AND step_number(name) IS NOT NULL
      AND is_host_op(cat)
      AND cat <> 'python_function'
),
instants AS (
    SELECT start_ns AS at_ns FROM steps
    UNION
    SELECT end_ns FROM steps
),
stretches AS (
    SELECT at_ns AS start_ns, lead(at_ns) OVER (ORDER BY at_ns) AS end_ns
    FROM instants
)
SELECT
    row_number() OVER (ORDER BY stretches.start_ns) AS number,
    stretches.start_ns,
    arg_max(steps.step, (steps.start_ns, steps.event_id)) AS step
FROM stretches
LEFT JOIN steps
    ON steps.start_ns <= stretches.start_ns
    AND steps.end_ns >= stretches.end_ns
GROUP BY stretches.start_ns;
