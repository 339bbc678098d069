-- The events of a trace. If ingest saw long names or ids of processes and threads, they are cut.
CREATE OR REPLACE TEMP VIEW trace_events AS
SELECT * REPLACE (
    CASE WHEN has_long_names() THEN cut(name) ELSE name END AS name,
    CASE WHEN has_long_names() THEN cut(pid) ELSE pid END AS pid,
    CASE WHEN has_long_names() THEN cut(tid) ELSE tid END AS tid
)
FROM whole_events;
