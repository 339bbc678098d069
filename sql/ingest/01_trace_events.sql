-- One row per event of a trace, as in the view whole_events.
--
-- If ingest has found a long name, process id or thread id (has_long_names), the view cuts all
-- names and ids that are long.
CREATE OR REPLACE TEMP VIEW trace_events AS
SELECT * REPLACE (
    CASE WHEN has_long_names() THEN cut(name) ELSE name END AS name,
    CASE WHEN has_long_names() THEN cut(pid) ELSE pid END AS pid,
    CASE WHEN has_long_names() THEN cut(tid) ELSE tid END AS tid
)
FROM whole_events;
