-- One row per host span with a name in the table step_names.
--
-- If a name comes again on its thread after a step with another number, the numbers start again,
-- such as those of batches in each epoch. Then they are not the numbers of steps.
WITH
marks AS (
    SELECT
        n.number,
        e.name AS step_name,
        n.marked_by,
        e.event_id,
        e.pid,
        e.tid,
        e.start_ns,
        e.dur_ns,
        n.number IS DISTINCT FROM lag(n.number) OVER (
            PARTITION BY e.pid, e.tid ORDER BY e.start_ns, e.event_id
        ) AS is_other
    FROM trace_events AS e
    JOIN step_names AS n ON n.name = e.name AND n.is_python = (e.cat = 'python_function')
    WHERE e.ph = 'X'
      AND is_host_op(e.cat)
      AND (n.marked_by = '--steps' OR e.cat = 'user_annotation')
),
starting_again AS (
    SELECT step_name
    FROM marks
    WHERE is_other
    GROUP BY pid, tid, step_name
    HAVING count(*) > 1
)
SELECT
    CASE WHEN NOT EXISTS (FROM starting_again) THEN number END AS number,
    * EXCLUDE (number, is_other)
FROM marks
