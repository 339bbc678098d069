-- One row per event of a trace, as in whole_events. If ingest saw long names or long ids of
-- processes or threads (has_long_names), each of them is cut.
CREATE OR REPLACE TEMP VIEW trace_events AS
SELECT * REPLACE (
    CASE WHEN has_long_names() THEN cut(name) ELSE name END AS name,
    CASE WHEN has_long_names() THEN cut(pid) ELSE pid END AS pid,
    CASE WHEN has_long_names() THEN cut(tid) ELSE tid END AS tid
)
FROM whole_events;
