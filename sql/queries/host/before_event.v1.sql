-- The events before a host event with a name, on the same rank, and which one they come before.
--
-- `of_name` is the name of a host operation, as in after_event: % stands for any text.
--
-- A host operation is before the named event if it ends at or before the start of the named event,
-- on any thread of the rank. A GPU activity is before the named event if its launch is. Activities
-- without a launch have no row.
--
-- If the rank has several such events, `before_id` is the first that begins after. With `of_name`
-- 'backward':
--
--     host  1 [launch)                               before_id 2
--           2           [= backward =)               before_id 3
--           3                         [= backward =)
--     GPU   4              [= gemm =)                before_id 2: 1 launched it
--
-- An event of no duration ends 1 ns after its start, so that it is not before itself. If several of
-- the named events begin at the same time, before_id is the highest event_id.
--
-- since: 0.1
-- grain: job, rank, event_id
-- needs: host_ops
-- returns:
--   job        VARCHAR  -   run of a program
--   rank       INTEGER  -   rank of the process
--   event_id   BIGINT   -   the event, in host_ops or gpu_activities
--   before_id  BIGINT   -   event_id of the first event with the name that begins after
--   cat        VARCHAR  -   category of the event
--   name       VARCHAR  -   name of the event
--   step       BIGINT   -   step of the event; NULL outside steps
--   start_ns   BIGINT   ns  start
--   dur_ns     BIGINT   ns  duration
-- check: dur_ns >= 0
-- check: event_id <> before_id
-- reads: spans_before, times_of_spans, with_launched
CREATE OR REPLACE MACRO before_event_v1(
    of_name VARCHAR,  -- name of the host event; % stands for any text
    only_jobs VARCHAR[] := NULL,  -- jobs to search [default: all]
    only_ranks INTEGER[] := NULL  -- ranks to search [default: all]
) AS TABLE
WITH
spans AS MATERIALIZED (
    FROM times_of_spans(of_name, only_jobs, only_ranks)
),
named AS (
    FROM spans
    WHERE is_named
),
earlier AS MATERIALIZED (
    SELECT *, NULL::BIGINT AS after_id
    FROM spans_before(spans, named)
)
SELECT * EXCLUDE (after_id)
FROM with_launched(earlier, only_jobs, only_ranks)
ORDER BY job, rank, event_id;
