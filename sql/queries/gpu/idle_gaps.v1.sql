-- Each idle gap of a whole device, with its cause and what the host did then.
--
-- A gap is a time without activity on any stream of the device. The first activity after the gap,
-- by start and then event_id, ends the gap. The launch of that activity sets the cause, as in
-- idle_time_breakdown:
--
--     host_wait    the launch began after the start of the gap
--     kernel_wait  launched in time, and the gap is below kernel_gap_ns
--     other        launched in time, and the gap is kernel_gap_ns or more
--
-- An activity is launched in time if its launch began before the gap or exactly at the gap's start.
-- An activity without a launch counts as launched in time. The causes are those of HTA. Version 2
-- cuts a gap at the launch instead.
--
--     stream 7    [=====)                   [====)
--     stream 8       [=====)                 [==)
--     gap                  .................
--     middle                       x
--     host        [ step                             )
--                      [ next batch      )
--                       [  ) [ read   )  [  )           host_name: read
--
-- host_event_id and host_name show what the host did at the middle of the gap, which is start_ns +
-- gap_ns // 2. They name the innermost span that was open then on the thread that launched the
-- activity. A span is an operator, an annotation, a Python function, or a runtime or driver call.
-- The innermost span is the one that began last. If several began at that time, it is the shortest
-- of them. Both columns are NULL if the activity has no launch or if no span was open.
--
-- If steps are selected, only activities of these steps count. A gap can then include time in which
-- activities of other steps run. host_event_id and host_name can name a span of any step, even if
-- that step is not selected.
--
-- since: 0.1
-- grain: job, rank, device, start_ns
-- needs: gpu_activities
-- returns:
--   job            VARCHAR  -   run of a program
--   rank           INTEGER  -   rank of the process
--   device         BIGINT   -   GPU, as the process numbers it
--   start_ns       BIGINT   ns  start of the gap: latest end of the activities before it
--   gap_ns         BIGINT   ns  duration of the gap, until the next activity starts
--   cause          VARCHAR  -   host_wait, kernel_wait or other
--   next_event_id  BIGINT   -   event_id of the activity that ends the gap
--   next_name      VARCHAR  -   name of that activity
--   host_event_id  BIGINT   -   event_id of the innermost span on the host, as above
--   host_name      VARCHAR  -   name of that span
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
    only_steps BIGINT[] := NULL,  -- steps to measure [default: the whole trace]
    min_gap_ns BIGINT := 0,  -- ns; shorter gaps are left out
    kernel_gap_ns BIGINT := 30000  -- ns; only shorter gaps can be kernel_wait
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
        NULL::BIGINT AS stream,  -- so that all streams of a device count as one
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
-- Each launching thread gets a small number, so that the rows sorted below are narrow. All
-- activities of a rank without a launch share one number. It stands for a thread without spans.
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
-- Most spans are short and far from the middle of any gap. A span is left out if it begins and
-- leaves the stack within one stretch of 2^16 ns, and this stretch has no middle. If a span stays,
-- all its callers stay.
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
-- When a span begins, the innermost span changes from the caller to this span. When this span
-- leaves the stack, the innermost span changes back. Each change is the difference of the two ids,
-- with -1 for no span. The changes up to a middle add up to the id of the innermost span there. The
-- order of changes at the same instant does not matter.
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
-- The query uses a sum instead of an ASOF join. DuckDB plans a quadratic ASOF join if it expects
-- few rows, for example if one job among many is selected.
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
