-- One row per annotation of the first rule in step_rules that an annotation matches.
WITH
-- Patterns are matched once per name.
matches AS (
    SELECT
        names.name,
        rules.position,
        rules.framework,
        TRY_CAST(nullif(
            CASE
                WHEN contains(rules.name_pattern, '(\d+)')
                THEN regexp_extract(names.name, rules.name_pattern, 1)
            END,
            ''
        ) AS BIGINT) AS number
    FROM (
        SELECT DISTINCT name
        FROM trace_events
        WHERE ph = 'X' AND cat = 'user_annotation'
    ) AS names
    JOIN step_rules() AS rules ON regexp_matches(names.name, rules.name_pattern)
),
first_rule AS (
    SELECT name, framework, number
    FROM matches
    WHERE position = (SELECT min(position) FROM matches)
)
SELECT
    f.number,
    e.name AS step_name,
    f.framework AS marked_by,
    e.event_id,
    e.pid,
    e.tid,
    e.start_ns,
    e.dur_ns
FROM trace_events AS e
JOIN first_rule AS f ON f.name = e.name
WHERE e.ph = 'X' AND e.cat = 'user_annotation'
