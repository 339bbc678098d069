-- Names so long that joins and sorts of them run out of memory, and how they are cut: in `events`
-- they stay whole. The hash keeps apart what differs behind the cut; hta_sql/ingest/long_names.py
-- does the same for host_ops.
CREATE OR REPLACE MACRO is_long(name) AS strlen(name) > 16384;

CREATE OR REPLACE MACRO cut(name) AS
CASE WHEN is_long(name) THEN left(name, 1000) || '... ' || md5(name) ELSE name END;
