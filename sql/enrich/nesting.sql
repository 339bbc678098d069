-- Makes host_spans nest: a span that is crossed (another begins inside it and ends after it)
-- leaves the stack where the first such span begins. It keeps its times, and neither is the
-- other's caller.
--
--     crossed   [=======|.....)
--     crossing          [==========)
--     inside    [==)      [==)             in crossed; in crossing
--
-- Tables rather than one query: with their true sizes the planner takes the range join, which is
-- n log n, where it guesses at a filtered window it takes a quadratic one.

-- One number an instant over all threads, so that a join on two inequalities stays in a thread.
CREATE OR REPLACE TEMP TABLE instants AS
SELECT thread, at_ns, row_number() OVER (ORDER BY thread, at_ns) AS place
FROM (
    SELECT thread, start_ns AS at_ns FROM host_spans
    UNION
    SELECT thread, end_ns FROM host_spans
);

CREATE OR REPLACE TEMP TABLE placed AS
SELECT spans.event_id, spans.start_ns, begins.place AS start_place, ends.place AS end_place
FROM host_spans AS spans
JOIN instants AS begins
    ON begins.thread = spans.thread AND begins.at_ns = spans.start_ns
JOIN instants AS ends
    ON ends.thread = spans.thread AND ends.at_ns = spans.end_ns
WHERE spans.end_ns > spans.start_ns;

-- Spans during which one begins that ends later.
CREATE OR REPLACE TEMP TABLE crossed AS
SELECT event_id, start_place, end_place
FROM placed
QUALIFY max(end_place) OVER (
    ORDER BY start_place
    RANGE BETWEEN CURRENT ROW AND end_place - start_place - 1 FOLLOWING
) > end_place;

-- The join finds what is open when a crossed span ends: no more than the stack is deep.
CREATE OR REPLACE TEMP TABLE cuts AS
SELECT
    crossed.event_id,
    min(crossing.start_ns) FILTER (crossing.start_place > crossed.start_place) AS cut_ns
FROM crossed
JOIN placed AS crossing
    ON crossing.start_place < crossed.end_place
    AND crossing.end_place > crossed.end_place
GROUP BY crossed.event_id;

CREATE OR REPLACE TEMP TABLE host_spans AS
SELECT
    spans.event_id,
    spans.thread,
    spans.start_ns,
    spans.end_ns,
    coalesce(cuts.cut_ns, spans.end_ns) AS stack_end_ns,
    spans.is_op,
    spans.is_annotation,
    spans.is_module,
    spans.begins_backward,
    spans.name_hash
FROM host_spans AS spans
LEFT JOIN cuts ON cuts.event_id = spans.event_id;
