-- What long names of GPU activities tell, which they would not once cut: most of such a name are
-- templates. Beyond 1 MB nobody has named a kernel; there the first characters have to do.
CREATE OR REPLACE TEMP TABLE long_names AS
SELECT DISTINCT
    cut(name) AS name,
    kind_of_name(name) AS kind,
    cut(short_name(name)) AS short_name
FROM whole_events
WHERE has_long_names()
  AND ph = 'X'
  AND is_gpu_activity(cat)
  AND is_long(name)
  AND strlen(name) <= 1048576;
