-- What the main thread was at while autograd's threads worked for it.
--
-- The main thread is the one with the steps; where several have them, none is. Outermost spans of
-- autograd's threads belong to its annotation `## backward ##` around them, in traces without one
-- to its step: of several around a span, to the one that began last.
--
--     main       [== ProfilerStep#3 ===============)
--                            [= ## backward ## ===)
--     autograd                 [evaluate_function)
CREATE OR REPLACE TEMP TABLE main_annotations AS
WITH
main AS (
    SELECT max(thread) AS thread
    FROM threads
    WHERE has_steps
    HAVING count(*) = 1
),
annotations AS (
    SELECT
        e.event_id,
        e.start_ns,
        e.start_ns + e.dur_ns AS end_ns,
        prefix(e.name, '## backward ##') AS is_backward
    FROM trace_events AS e
    JOIN threads
        ON threads.pid IS NOT DISTINCT FROM e.pid
        AND threads.tid IS NOT DISTINCT FROM e.tid
    JOIN main ON main.thread = threads.thread
    WHERE e.ph = 'X'
      AND e.cat = 'user_annotation'
      AND (prefix(e.name, '## backward ##') OR prefix(e.name, 'ProfilerStep#'))
)
SELECT event_id, start_ns, end_ns
FROM annotations
WHERE is_backward = (SELECT bool_or(is_backward) FROM annotations);

CREATE OR REPLACE TEMP TABLE outermost AS
SELECT
    spans.event_id,
    (spans.start_at - threads.shift_ns)::BIGINT AS start_ns,
    (spans.end_at - threads.shift_ns)::BIGINT AS end_ns
FROM host_spans AS spans
JOIN threads ON threads.thread = spans.thread
JOIN stack ON stack.event_id = spans.event_id
WHERE threads.has_autograd AND NOT threads.has_steps AND stack.depth = 0
  AND EXISTS (FROM main_annotations);

-- No equality beside the two inequalities: with these tables' true sizes, a range join.
CREATE OR REPLACE TEMP TABLE thread_callers AS
SELECT
    spans.event_id,
    arg_max(a.event_id, (a.start_ns, -a.end_ns, a.event_id)) AS caller_id
FROM outermost AS spans
JOIN main_annotations AS a
    ON a.start_ns <= spans.start_ns
    AND a.end_ns >= spans.end_ns
GROUP BY spans.event_id;

-- Nobody needs them from here on, and memory is short.
DROP TABLE host_spans;
