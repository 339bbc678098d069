-- One row per name of annotations that matches the first rule that any name matches: name,
-- is_python, number and marked_by.
--
-- `draft` and `draft_extend` of SGLang are names, too, if the target model checks drafts.
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
),
of_first_rule AS (
    SELECT name, number, framework
    FROM matches
    WHERE position = (SELECT min(position) FROM matches)
)
SELECT name, false AS is_python, number, framework AS marked_by
FROM of_first_rule
UNION
-- Around the passes of the draft model, if SGLang decodes speculatively.
SELECT e.name, false, NULL, 'SGLang'
FROM trace_events AS e
WHERE e.ph = 'X'
  AND e.cat = 'user_annotation'
  AND e.name IN ('draft', 'draft_extend')
  AND EXISTS (
      FROM of_first_rule AS f
      WHERE f.framework = 'SGLang' AND prefix(f.name, 'step[TARGET_VERIFY')
  )
