-- One line per metadata event of a rank about a thread or process that has exported events.
--
-- If several ranks are exported together (export_first_pid is not NULL), processes get new numbers.
-- Then processes.sql writes the lines about processes, and this file writes only lines about
-- threads.
WITH
used AS (
    SELECT n.*, l.new_pid
    FROM export_metadata AS n
    JOIN export_lanes AS l
        ON l.is_used
        AND l.rank = n.rank
        AND l.pid IS NOT DISTINCT FROM n.pid
        AND l.tid IS NOT DISTINCT FROM n.tid
    WHERE n.rank = getvariable('export_rank') AND prefix(n.name, 'thread_')
    UNION ALL BY NAME
    SELECT n.*, n.pid AS new_pid
    FROM export_metadata AS n
    SEMI JOIN export_lanes AS l
        ON l.is_used AND l.rank = n.rank AND l.pid IS NOT DISTINCT FROM n.pid
    WHERE n.rank = getvariable('export_rank')
      AND getvariable('export_first_pid') IS NULL
      AND NOT prefix(n.name, 'thread_') IS TRUE
)
SELECT
    chrome_event('M', cat, name, new_pid, tid, NULL, NULL, NULL, NULL, NULL, args, more) AS line
FROM used
ORDER BY event_id
