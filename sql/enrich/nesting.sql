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

CREATE OR REPLACE TEMP TABLE placed AS
SELECT event_id, start_at, end_at
FROM host_spans
WHERE end_at > start_at;

-- Spans during which one begins that ends later.
CREATE OR REPLACE TEMP TABLE crossed AS
SELECT event_id, start_at, end_at
FROM placed
QUALIFY max(end_at) OVER (
    ORDER BY start_at
    RANGE BETWEEN CURRENT ROW AND end_at - start_at - 1 FOLLOWING
) > end_at;

-- The join finds what is open when a crossed span ends: no more than the stack is deep.
CREATE OR REPLACE TEMP TABLE cut_places AS
SELECT
    crossed.event_id,
    min(crossing.start_at) FILTER (crossing.start_at > crossed.start_at) AS cut_at
FROM crossed
JOIN placed AS crossing
    ON crossing.start_at < crossed.end_at
    AND crossing.end_at > crossed.end_at
GROUP BY crossed.event_id;

CREATE OR REPLACE TEMP TABLE cuts AS
SELECT cut_places.event_id, (cut_places.cut_at - threads.shift_ns)::BIGINT AS cut_ns
FROM cut_places
JOIN host_spans AS spans ON spans.event_id = cut_places.event_id
JOIN threads ON threads.thread = spans.thread;

CREATE OR REPLACE TEMP TABLE host_spans AS
SELECT spans.* REPLACE (coalesce(cut_places.cut_at, spans.end_at) AS stack_end_at)
FROM host_spans AS spans
LEFT JOIN cut_places ON cut_places.event_id = spans.event_id;
