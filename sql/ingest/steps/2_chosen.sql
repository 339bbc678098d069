-- One row per name of host spans that matches the user's pattern (steps_pattern): name, is_python,
-- number and marked_by.
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
SELECT name, is_python, number, '--steps' AS marked_by
FROM named
WHERE is_python = (SELECT bool_and(is_python) FROM named)
