-- The spans that take part in call stacks, with a small number for each thread.
CREATE OR REPLACE TEMP TABLE threads AS
SELECT row_number() OVER () AS thread, pid, tid
FROM (
    SELECT DISTINCT pid, tid
    FROM trace_events
    WHERE ph = 'X' AND is_host_op(cat)
);

CREATE OR REPLACE TEMP TABLE host_spans AS
SELECT
    e.event_id,
    threads.thread::INTEGER AS thread,
    e.start_ns,
    e.start_ns + e.dur_ns AS end_ns,
    end_ns AS stack_end_ns,
    e.cat IN ('cpu_op', 'Operator') AS is_op,
    e.cat = 'user_annotation' AS is_annotation
FROM trace_events AS e
JOIN threads
    ON threads.pid IS NOT DISTINCT FROM e.pid
    AND threads.tid IS NOT DISTINCT FROM e.tid
WHERE e.ph = 'X' AND is_host_op(e.cat);
