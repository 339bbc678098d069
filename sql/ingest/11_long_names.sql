-- What long names of GPU activities tell, which they would not once cut: most of such a name are
-- templates. Beyond 64 kB nobody has named a kernel; there the first characters have to do.
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
