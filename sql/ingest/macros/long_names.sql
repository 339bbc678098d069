-- How names are cut that are so long that joins and sorts of them run out of memory. In `events`
-- they stay whole. The hash distinguishes names that differ behind the cut.
-- hta_sql/ingestion/long_names.py does the same for host_ops.
CREATE OR REPLACE MACRO is_long(name) AS strlen(name) > 16384;

CREATE OR REPLACE MACRO cut(name) AS
CASE WHEN is_long(name) THEN left(name, 1000) || '... ' || md5(name) ELSE name END;
