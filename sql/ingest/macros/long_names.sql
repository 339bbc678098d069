-- Whether a name is long, and the cut name that takes its place.
--
-- Joins and sorts of long names run out of memory. In `events` names stay whole. The hash
-- distinguishes names that differ only after the cut. hta_sql/ingestion/long_names.py cuts names in
-- the same way for host_ops.
CREATE OR REPLACE MACRO is_long(name) AS strlen(name) > 16384;

CREATE OR REPLACE MACRO cut(name) AS
CASE WHEN is_long(name) THEN left(name, 1000) || '... ' || md5(name) ELSE name END;
