-- One row per cut name of GPU activities with long names: the kind and the short name.
--
-- Both are found from the whole name. The cut name is not enough, because most of a long name is
-- template arguments. If the whole name has more than 64 kB, the cut name is used. No known kernel
-- has such a long name.
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
