-- Every time a whole device stood idle, what ended it, and what the host was doing meanwhile.
--
-- A gap lies between the activities of all streams of a device. The first activity after it, by
-- start and then event_id, ends it and tells its cause as in idle_time_breakdown: host_wait where
-- its launch began only in the gap, kernel_wait where the gap is below kernel_gap_ns, else other.
--
--     stream 7    [=====)                   [====)
--     stream 8       [=====)                 [==)
--     gap                  .................
--     middle                       :
--     host        [ step           :                 )
--                      [ next batch:     )
--                       [  ) [ read:  )  [  )           read is the host's innermost then
--
-- host_event_id and host_name tell the innermost of whatever the launching thread had open at the
-- gap's middle (start_ns + gap_ns // 2): the operator, annotation, Python function or call that
-- began last, of equal starts the shortest. They are NULL where the activity has no launch, or the
-- thread nothing open. Selected steps are measured as if nothing ran between them; the host's side
-- is not selected by step.
--
-- HTA has no counterpart.
--
-- since: 0.1
-- grain: job, rank, device, start_ns
-- returns:
--   job            VARCHAR  -   run of a program
--   rank           INTEGER  -   rank of the process
--   device         BIGINT   -   GPU, as the process numbers it
--   start_ns       BIGINT   ns  latest end before the gap
--   gap_ns         BIGINT   ns  until the next start
--   cause          VARCHAR  -   host_wait, kernel_wait or other
--   next_event_id  BIGINT   -   activity that ends the gap
--   next_name      VARCHAR  -   its name
--   host_event_id  BIGINT   -   what its launching thread did at the middle
--   host_name      VARCHAR  -   its name
--   stream         BIGINT   -   stream of the activity that ends the gap
--   step           BIGINT   -   step of the activity that ends the gap
-- check: gap_ns > 0
-- check: cause IN ('host_wait', 'kernel_wait', 'other')
-- check: next_event_id IS NOT NULL
-- check: host_event_id IS NOT NULL OR host_name IS NULL
-- reads: activities_of, host_ops, idle_before, numbered_names
CREATE OR REPLACE MACRO idle_gaps_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to measure [default: all]
    only_steps BIGINT[] := NULL,  -- steps to measure [default: all, also outside steps]
    min_gap_ns BIGINT := 0,  -- ns; shorter gaps are not shown
    kernel_gap_ns BIGINT := 30000  -- ns; from here on the cause is no mere kernel_wait
) AS TABLE
WITH
names AS MATERIALIZED (
    FROM numbered_names(only_jobs, only_ranks, only_steps, NULL)
),
picked AS (
    SELECT
        a.job,
        a.rank,
        a.device,
        NULL::BIGINT AS stream,  -- all streams of a device as one
        a.stream AS next_stream,
        a.event_id,
        names.name_number,
        a.step,
        a.start_ns,
        a.end_ns,
        a.launch_start_ns,
        a.launch_id IS NOT NULL AS is_launched,
        a.launch_pid,
        a.launch_tid
    FROM activities_of(only_jobs, only_ranks, only_steps) AS a
    JOIN names ON names.name IS NOT DISTINCT FROM a.name
),
gaps AS (
    SELECT *, idle_since_ns + gap_ns // 2 AS middle_ns
    FROM idle_before(picked, kernel_gap_ns)
    WHERE gap_ns >= coalesce(min_gap_ns, 0)
),
-- A small number for each launching thread, so that what is sorted below is narrow; what has no
-- launch has a thread of its own, without operations.
threads AS (
    SELECT
        row_number() OVER (ORDER BY job, rank, is_launched, launch_pid, launch_tid) AS thread,
        *
    FROM (
        SELECT DISTINCT job, rank, is_launched, launch_pid, launch_tid
        FROM gaps
    )
),
middles AS (
    SELECT gaps.*, threads.thread
    FROM gaps
    JOIN threads
        ON threads.job = gaps.job
        AND threads.rank = gaps.rank
        AND threads.is_launched = gaps.is_launched
        AND threads.launch_pid IS NOT DISTINCT FROM gaps.launch_pid
        AND threads.launch_tid IS NOT DISTINCT FROM gaps.launch_tid
),
-- Most operations are short, and no middle is near. One that begins and leaves within a stretch of
-- 2^16 ns without a middle is left out; the callers of one that stays all stay.
stretches AS (
    SELECT DISTINCT thread, middle_ns // 65_536 AS stretch
    FROM middles
),
spans AS (
    SELECT
        threads.thread,
        h.event_id,
        h.parent_id,
        h.start_ns,
        coalesce(h.cut_ns, h.end_ns) AS stack_end_ns
    FROM host_ops AS h
    JOIN threads
        ON threads.job = h.job
        AND threads.rank = h.rank
        AND threads.launch_pid IS NOT DISTINCT FROM h.pid
        AND threads.launch_tid IS NOT DISTINCT FROM h.tid
    LEFT JOIN stretches
        ON stretches.thread = threads.thread
        AND stretches.stretch = h.start_ns // 65_536
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, h.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, h.rank))
      AND threads.is_launched
      AND (
          stretches.stretch IS NOT NULL
          OR (stack_end_ns - 1) // 65_536 > h.start_ns // 65_536
      )
),
-- Where a span begins, the innermost changes from its caller to it, and back where it leaves the
-- stack. As a number, the change is the difference of their ids, with -1 for none: then the changes
-- until a middle add up to the id of what is innermost there, in whatever order those of one
-- instant come.
moments AS (
    SELECT
        thread,
        start_ns AS at_ns,
        event_id - coalesce(parent_id, -1) AS change,
        NULL::BIGINT AS next_event_id
    FROM spans
    UNION ALL
    SELECT
        thread,
        stack_end_ns AS at_ns,
        coalesce(parent_id, -1) - event_id AS change,
        NULL AS next_event_id
    FROM spans
    UNION ALL
    SELECT thread, middle_ns AS at_ns, 0 AS change, event_id AS next_event_id
    FROM middles
),
-- A sum rather than an ASOF join, which DuckDB plans as a quadratic one where it expects few rows,
-- as of one job among many.
states AS (
    SELECT
        thread,
        next_event_id,
        -1 + sum(change) OVER (
            PARTITION BY thread
            ORDER BY at_ns, next_event_id NULLS FIRST
            ROWS UNBOUNDED PRECEDING
        ) AS innermost_id
    FROM moments
),
meanwhile AS (
    SELECT thread, next_event_id, nullif(innermost_id, -1)::BIGINT AS host_event_id
    FROM states
    WHERE next_event_id IS NOT NULL
),
host_names AS (
    SELECT h.job, h.rank, h.event_id, h.name
    FROM host_ops AS h
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, h.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, h.rank))
)
SELECT
    m.job,
    m.rank,
    m.device,
    m.idle_since_ns AS start_ns,
    m.gap_ns,
    m.cause,
    m.event_id AS next_event_id,
    names.name AS next_name,
    w.host_event_id,
    h.name AS host_name,
    m.next_stream AS stream,
    m.step
FROM middles AS m
JOIN names ON names.name_number = m.name_number
JOIN meanwhile AS w
    ON w.thread = m.thread
    AND w.next_event_id = m.event_id
LEFT JOIN host_names AS h
    ON h.job = m.job
    AND h.rank = m.rank
    AND h.event_id = w.host_event_id
ORDER BY m.job, m.rank, m.device, m.idle_since_ns;
