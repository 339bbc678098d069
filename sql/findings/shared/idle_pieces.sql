-- What the launching thread had open during idle times: one row per part and innermost span.
--
-- `only_jobs`: jobs to look at (NULL: all).
-- `typical_idle`: rows of shared_typical_idle.
--
-- Integers stand for parts and spans, since there are many rows. Returns part_number, is_loading,
-- first_ns and segment_ns as in idle_segments, and
--
--     host_span   host_event_id as a span_number
--     outer_span  outer_event_id in the same way
--     is_first    whether the idle time begins with this segment
--
-- reads: job_idle_segments, span_number
CREATE OR REPLACE MACRO shared_idle_pieces(only_jobs, typical_idle) AS TABLE
SELECT
    s.part_number,
    span_number(t.rank_number, s.host_event_id) AS host_span,
    span_number(t.rank_number, s.outer_event_id) AS outer_span,
    s.is_loading,
    s.first_ns,
    s.segment_ns,
    t.idle_since_ns = s.first_ns AS is_first
FROM job_idle_segments(only_jobs) AS s
JOIN query_table(typical_idle) AS t ON t.part_number = s.part_number;
