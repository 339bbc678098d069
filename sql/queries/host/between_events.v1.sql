-- The events between a host event with a name and the next one with another name, on the same rank.
--
-- Both names are names of host operations, as in after_event: % stands for any text.
--
-- A host operation is between two such events if it begins at or after the end of the first one,
-- and ends at or before the start of the second one. The second one is the next with `second_name`
-- that begins at or after the end of the first one. Both events and the operation can be on any
-- thread of the rank. A GPU activity is between the events if its launch is. Activities without a
-- launch have no row.
--
-- So each step has its own pair. With 'forward' and 'backward':
--
--     step   [= 3 =========================)[= 4 =============================)
--     host    [forward)   [backward)         [forward)         [backward)
--                      [a)           [b)                [c)[d)
--
--     a is between the events of step 3, c and d are between those of step 4, and b has no row.
--
-- An event can be after several firsts with the same second. Then after_id is the last that ended.
-- An event of no duration ends 1 ns after its start.
--
-- since: 0.1
-- grain: job, rank, event_id
-- needs: host_ops
-- returns:
--   job        VARCHAR  -   run of a program
--   rank       INTEGER  -   rank of the process
--   event_id   BIGINT   -   the event, in host_ops or gpu_activities
--   after_id   BIGINT   -   event_id of the first event, with first_name
--   before_id  BIGINT   -   event_id of the second event, with second_name
--   cat        VARCHAR  -   category of the event
--   name       VARCHAR  -   name of the event
--   step       BIGINT   -   step of the event; NULL outside steps
--   start_ns   BIGINT   ns  start
--   dur_ns     BIGINT   ns  duration
-- check: dur_ns >= 0
-- check: event_id <> after_id AND event_id <> before_id
-- reads: is_named, named_spans, spans_after, spans_before, with_launched
CREATE OR REPLACE MACRO between_events_v1(
    first_name VARCHAR,  -- name of the host event before; % stands for any text
    second_name VARCHAR,  -- name of the host event after; % stands for any text
    only_jobs VARCHAR[] := NULL,  -- jobs to search [default: all]
    only_ranks INTEGER[] := NULL  -- ranks to search [default: all]
) AS TABLE
WITH
spans AS MATERIALIZED (
    SELECT
        job,
        rank,
        event_id,
        start_ns,
        until_ns,
        is_named AS is_first,
        is_named(name, second_name) AS is_second
    FROM named_spans(first_name, only_jobs, only_ranks)
),
firsts AS (
    FROM spans
    WHERE is_first
),
seconds AS (
    FROM spans
    WHERE is_second
),
-- Each first event, and the second that is next.
pairs_in_time AS (
    SELECT job, rank, event_id AS after_id, before_id
    FROM spans_before(firsts, seconds)
),
later AS MATERIALIZED (
    FROM spans_after(spans, firsts)
),
-- A span after a first event is between the two if the second is also the next after the span.
between_pairs AS MATERIALIZED (
    SELECT *
    FROM spans_before(later, seconds)
    SEMI JOIN pairs_in_time USING (job, rank, after_id, before_id)
)
FROM with_launched(between_pairs, only_jobs, only_ranks)
ORDER BY job, rank, event_id;
