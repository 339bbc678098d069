-- One row per name of annotations that matches the first rule that any name matches: name,
-- is_python, number and marked_by.
--
-- The table step_rules_now has the rules: the user's, or those of step_rules.
WITH
-- Patterns are matched once per name.
matches AS (
    SELECT
        names.name,
        rules.position,
        rules.framework,
        TRY_CAST(nullif(regexp_extract(names.name, rules.name_pattern, 1), '') AS BIGINT)
            AS number
    FROM (
        SELECT DISTINCT name
        FROM trace_events
        WHERE ph = 'X' AND cat = 'user_annotation'
    ) AS names
    JOIN step_rules_now AS rules ON regexp_matches(names.name, rules.name_pattern)
)
SELECT name, false AS is_python, number, framework AS marked_by
FROM matches
WHERE position = (SELECT min(position) FROM matches)
