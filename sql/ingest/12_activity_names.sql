-- One row per distinct name of GPU activities: its kind and its short name.
--
-- Patterns are matched once per name, because they cost more than a join. They have a statement of
-- their own, because 13_gpu_activities.sql is planned more than once.
CREATE OR REPLACE TEMP TABLE activity_names AS
WITH
distinct_names AS (
    SELECT DISTINCT name
    FROM trace_events
    WHERE ph = 'X' AND is_gpu_activity(cat)
)
SELECT
    d.name,
    coalesce(long_names.kind, kind_of_name(d.name)) AS kind,
    coalesce(long_names.short_name, short_name(d.name)) AS short_name
FROM distinct_names AS d
LEFT JOIN long_names ON long_names.name = d.name
