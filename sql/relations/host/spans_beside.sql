-- Spans of the host that begin after, or end before, others of their rank.
--
-- `spans` and `marks` have job, rank, event_id, start_ns and until_ns of named_spans.
--
-- reads: last_marks

-- The rows of `spans` that begin at or after the end of a mark. after_id is the event_id of the
-- last mark that ended. If several ended at the same time, it is the highest event_id.
CREATE OR REPLACE MACRO spans_after(spans, marks) AS TABLE
WITH
ends_of_marks AS (
    SELECT job, rank, event_id AS mark_id, until_ns AS at_ns
    FROM query_table(marks)
),
starts_of_spans AS (
    SELECT job, rank, event_id, start_ns AS at_ns
    FROM query_table(spans)
)
SELECT s.*, ended.mark_id AS after_id
FROM query_table(spans) AS s
JOIN last_marks(starts_of_spans, ends_of_marks) AS ended
    ON ended.job = s.job AND ended.rank = s.rank AND ended.event_id = s.event_id;

-- The rows of `spans` that end at or before the start of a mark. before_id is the event_id of the
-- first mark that begins. If several begin at the same time, it is the highest event_id.
--
-- Times are negated, so that the first start after an end is the last one before it.
CREATE OR REPLACE MACRO spans_before(spans, marks) AS TABLE
WITH
starts_of_marks AS (
    SELECT job, rank, event_id AS mark_id, -start_ns AS at_ns
    FROM query_table(marks)
),
ends_of_spans AS (
    SELECT job, rank, event_id, -until_ns AS at_ns
    FROM query_table(spans)
)
SELECT s.*, begun.mark_id AS before_id
FROM query_table(spans) AS s
JOIN last_marks(ends_of_spans, starts_of_marks) AS begun
    ON begun.job = s.job AND begun.rank = s.rank AND begun.event_id = s.event_id;
