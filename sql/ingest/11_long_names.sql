-- One row per long name of GPU activities: the cut name, the kind and the short name.
--
-- Only a trace with long names needs the statement. In others the table is empty.
--
-- The kind and the short name come from the whole name, because most of a long name is template
-- arguments, which the cut name lacks. If the whole name has more than 64 kB, both come from the
-- cut name. No known kernel has a name of more than 64 kB.
--
-- No long name is one of kernel_words, so function_name is all of short_name that is needed.
CREATE OR REPLACE TEMP TABLE long_names AS
WITH
found AS (
    SELECT cut(name) AS name, CASE WHEN strlen(name) <= 65536 THEN name END AS whole_name
    FROM whole_events
    WHERE ph = 'X'
      AND is_gpu_activity(cat)
      AND is_long(name)
)
SELECT DISTINCT
    name,
    kind_of_name(coalesce(whole_name, name)) AS kind,
    coalesce(cut(function_name(whole_name)), name) AS short_name
FROM found;
