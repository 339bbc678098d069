-- The events after a host event with a name, on the same rank, and which one they come after.
--
-- `of_name` is the name of a host operation: an operator, annotation, Python function, or runtime
-- or driver call. In it, % stands for any text, such as '%attention%'. All other characters stand
-- for themselves, and case matters.
--
-- A host operation is after the named event if it begins at or after the end of the named event, on
-- any thread of the rank. A GPU activity is after the named event if its launch is: the GPU works
-- later than the host, so its own start does not tell. Activities without a launch have no row.
--
-- If the rank has several such events, `after_id` is the last that ended. With `of_name` 'forward':
--
--     host  1 [= forward =)
--           2               [launch)                          after_id 1
--           3                        [= forward =)            after_id 1
--           4                                      [launch)   after_id 3
--     GPU   5                                [= gemm =)       after_id 1: 2 launched it
--
-- An event of no duration ends 1 ns after its start, so that it is not after itself. If several of
-- the named events end at the same time, after_id is the highest event_id.
--
-- since: 0.1
-- grain: job, rank, event_id
-- needs: host_ops
-- returns:
--   job       VARCHAR  -   run of a program
--   rank      INTEGER  -   rank of the process
--   event_id  BIGINT   -   the event, in host_ops or gpu_activities
--   after_id  BIGINT   -   event_id of the last event with the name that ended before
--   cat       VARCHAR  -   category of the event
--   name      VARCHAR  -   name of the event
--   step      BIGINT   -   step of the event; NULL outside steps
--   start_ns  BIGINT   ns  start
--   dur_ns    BIGINT   ns  duration
-- check: dur_ns >= 0
-- check: event_id <> after_id
-- reads: spans_after, times_of_spans, with_launched
CREATE OR REPLACE MACRO after_event_v1(
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
later AS MATERIALIZED (
    SELECT *, NULL::BIGINT AS before_id
    FROM spans_after(spans, named)
)
SELECT * EXCLUDE (before_id)
FROM with_launched(later, only_jobs, only_ranks)
ORDER BY job, rank, event_id;
