-- Each idle gap of a whole device, cut into parts by cause, with what the host did.
--
-- A gap is a time without activity on any stream of the device. The first activity after the gap,
-- by start and then event_id, ends the gap. The gap is cut where the launch of that activity begins
-- and where it returns. Each part has a cause:
--
--     host_wait    until the launch begins: there is nothing to run
--     launching    until the launch returns: for example, a lazy load of a
--                  module, or a full launch queue
--     queued       until the activity starts: launched, but not started
--     kernel_wait  the same as queued, but shorter than kernel_gap_ns
--     unknown      the whole gap, if the activity has no launch
--
--     launch                   [ call  )
--     stream    [=====)                             [=====)
--     parts           host_wait launching  queued
--
-- A launch that begins before the gap, or returns after the activity has started, is cut to the
-- gap. One launch of a graph starts many activities. Only the first of them waits for the launch.
-- Gaps before the others are queued or kernel_wait. The parts of a gap add up to whole_gap_ns.
--
-- host_event_id and host_name name what filled most of the part: the innermost span, on the thread
-- that launched the activity, with the most time in the part. Of two spans with equal times, it is
-- the one with the lower event_id. A span is an operator, an annotation, a Python function, or a
-- runtime or driver call. Time in which no span was open counts in the same way. If it is the most
-- time, or if the activity has no launch, both columns are NULL.
--
-- If steps are selected, only activities of these steps count. A gap can then include time in which
-- activities of other steps run. host_name can name a span of any step.
--
-- Version 1 gives each gap one cause, as HTA does.
--
-- since: 0.1
-- grain: job, rank, device, part_start_ns
-- needs: gpu_activities
-- returns:
--   job            VARCHAR  -   run of a program
--   rank           INTEGER  -   rank of the process
--   device         BIGINT   -   GPU, as the process numbers it
--   part_start_ns  BIGINT   ns  start of the part
--   start_ns       BIGINT   ns  start of the gap: latest end of the activities before it
--   part_ns        BIGINT   ns  duration of the part
--   whole_gap_ns   BIGINT   ns  duration of the gap, the same in all its parts
--   cause          VARCHAR  -   host_wait, launching, queued, kernel_wait or unknown
--   next_event_id  BIGINT   -   event_id of the activity that ends the gap
--   next_name      VARCHAR  -   name of that activity
--   host_event_id  BIGINT   -   event_id of the innermost span that filled most of the part
--   host_name      VARCHAR  -   name of that span
--   stream         BIGINT   -   stream of the activity that ends the gap
--   step           BIGINT   -   step of the activity that ends the gap
-- check: part_ns > 0 AND part_ns <= whole_gap_ns
-- check: part_start_ns >= start_ns AND part_start_ns + part_ns <= start_ns + whole_gap_ns
-- check: cause IN ('host_wait', 'launching', 'queued', 'kernel_wait', 'unknown')
-- check: cause <> 'unknown' OR part_ns = whole_gap_ns
-- check: next_event_id IS NOT NULL
-- check: host_event_id IS NOT NULL OR host_name IS NULL
-- reads: device_idle, idle_segments, named_idle_parts
CREATE OR REPLACE MACRO idle_gaps_v2(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to measure [default: all]
    only_steps BIGINT[] := NULL,  -- steps to measure [default: the whole trace]
    min_gap_ns BIGINT := 0,  -- ns; shorter gaps are left out
    kernel_gap_ns BIGINT := 30000  -- ns; only shorter parts can be kernel_wait
) AS TABLE
WITH
parts AS MATERIALIZED (
    SELECT *
    FROM device_idle(only_jobs, only_ranks, only_steps, kernel_gap_ns)
    WHERE gap_ns >= coalesce(min_gap_ns, 0)
),
segments AS (
    FROM idle_segments(parts, only_jobs, only_ranks)
)
SELECT
    p.job,
    p.rank,
    p.device,
    p.part_start_ns,
    p.idle_since_ns AS start_ns,
    p.part_ns,
    p.gap_ns AS whole_gap_ns,
    p.cause,
    p.event_id AS next_event_id,
    p.next_name,
    p.host_event_id,
    p.host_name,
    p.next_stream AS stream,
    p.step
FROM named_idle_parts(parts, segments, only_jobs, only_ranks) AS p
ORDER BY p.job, p.rank, p.device, p.part_start_ns;
