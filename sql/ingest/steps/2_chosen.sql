-- One row per host span whose name matches the user's pattern (steps_pattern).
--
-- Annotations and operators come first: Python functions count only if no annotation or operator
-- matches. If the pattern has a group, the group's number is the number of the step.
WITH
-- A pattern is matched once per name.
named AS (
    SELECT
        name,
        cat = 'python_function' AS is_python,
        TRY_CAST(nullif(regexp_extract(name, getvariable('steps_pattern'), 1), '') AS BIGINT)
            AS number
    FROM (
        SELECT DISTINCT name, cat
        FROM trace_events
        WHERE ph = 'X' AND is_host_op(cat)
    )
    WHERE regexp_matches(name, getvariable('steps_pattern'))
)
SELECT
    n.number,
    e.name AS step_name,
    '--steps' AS marked_by,
    e.event_id,
    e.pid,
    e.tid,
    e.start_ns,
    e.dur_ns
FROM trace_events AS e
JOIN named AS n ON n.name = e.name AND n.is_python = (e.cat = 'python_function')
WHERE e.ph = 'X'
  AND is_host_op(e.cat)
  AND n.is_python = (SELECT bool_and(is_python) FROM named)
