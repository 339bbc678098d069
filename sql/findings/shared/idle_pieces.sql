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
-- reads: idle_segments, span_number
CREATE OR REPLACE MACRO shared_idle_pieces(only_jobs, typical_idle) AS TABLE
SELECT
    part_number,
    span_number(rank_number, host_event_id) AS host_span,
    span_number(rank_number, outer_event_id) AS outer_span,
    is_loading,
    first_ns,
    segment_ns,
    idle_since_ns = first_ns AS is_first
FROM idle_segments(typical_idle, only_jobs, NULL);
