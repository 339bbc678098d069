-- Kind and short name of GPU activities with long names, from the whole name. The cut name is not
-- enough, because most of a long name is template arguments. It is used only for names of more than
-- 64 kB, which no known kernel has.
CREATE OR REPLACE TEMP TABLE long_names AS
WITH
found AS (
    SELECT cut(name) AS name, CASE WHEN strlen(name) <= 65536 THEN name END AS whole_name
    FROM whole_events
    WHERE has_long_names()
      AND ph = 'X'
      AND is_gpu_activity(cat)
      AND is_long(name)
)
SELECT DISTINCT
    name,
    kind_of_name(coalesce(whole_name, name)) AS kind,
    coalesce(cut(short_name(whole_name)), name) AS short_name
FROM found;
