-- The events of a trace, with long names and ids of threads cut, where ingest saw any.
CREATE OR REPLACE TEMP VIEW trace_events AS
SELECT * REPLACE (
    CASE WHEN has_long_names() THEN cut(name) ELSE name END AS name,
    CASE WHEN has_long_names() THEN cut(pid) ELSE pid END AS pid,
    CASE WHEN has_long_names() THEN cut(tid) ELSE tid END AS tid
)
FROM whole_events;
