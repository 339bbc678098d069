-- is_long says whether a name has more than 16384 bytes. cut shortens a long name to 1000
-- characters and a hash.
--
-- Joins and sorts of long names run out of memory. In `events` names stay whole. The hash
-- distinguishes names that differ only after the first 1000 characters. For host_ops,
-- hta_sql/ingestion/long_names.py cuts names in the same way.
CREATE OR REPLACE MACRO is_long(name) AS strlen(name) > 16384;

CREATE OR REPLACE MACRO cut(name) AS
CASE WHEN is_long(name) THEN left(name, 1000) || '... ' || md5(name) ELSE name END;
