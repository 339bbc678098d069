-- Each stream's idle time between activities, cut into parts by cause.
--
-- A gap runs from the latest end on the stream to the next start after it. Each gap is cut where
-- the launch of the activity that ends the gap begins and returns. Each part has a cause:
--
--     host_wait    until the launch begins: there is nothing to run
--     launching    until the launch returns: for example, a lazy load of a
--                  module, or a full launch queue
--     kernel_wait  until the activity starts, if this is shorter than
--                  kernel_gap_ns: the short time between kernels
--     dependency   until the activity starts, while another stream of the
--                  device is busy: for example, the activity waits for an
--                  event of that stream
--     queued       until the activity starts, while the device is idle:
--                  launched, but not started
--     unknown      the whole gap, if the activity has no launch
--
--     launch                  [ call  )
--     stream 7    [=====)                              [=====)
--     stream 8                              [====)
--     host_wait         ......
--     launching               .........
--     queued                           .....      .....
--     dependency                            ......
--
-- A launch that begins before the gap, or returns after the activity has started, is cut to the
-- gap. One launch of a graph starts many activities. Only the first of them waits for the launch.
-- Gaps before the others have no host_wait and no launching.
--
-- A gap counts once for each of its causes, with the sum of its parts. So gap_count, the mean, the
-- percentiles and the other statistics of a cause are over gaps that have the cause, and each gap
-- counts with its time of that cause. The times of all causes add up to the stream's idle time.
--
-- There is no gap before a stream's first activity. There is also none if an activity starts
-- exactly at the latest end. Of activities with equal starts, the one with the lower event_id is
-- first. A cause without time has no row.
--
-- If steps are selected, only activities of these steps count. A gap can then include time in which
-- activities of other steps run. Means, percentiles and deviations are rounded to whole ns.
--
-- Version 1 gives each gap one cause, as HTA's get_idle_time_breakdown does.
--
-- since: 0.1
-- grain: job, rank, device, stream, cause
-- needs: gpu_activities
-- returns:
--   job        VARCHAR  -      run of a program
--   rank       INTEGER  -      rank of the process
--   device     BIGINT   -      GPU, as the process numbers it
--   stream     BIGINT   -      stream of the device
--   cause      VARCHAR  -      host_wait, launching, kernel_wait, dependency, queued or unknown
--   gap_count  BIGINT   count  gaps with that cause
--   idle_ns    BIGINT   ns     time of these gaps with that cause
--   idle_frac  DOUBLE   0-1    idle_ns / idle time of the stream; a stream's rows add up to 1
--   mean_ns    BIGINT   ns     mean time per gap
--   min_ns     BIGINT   ns     shortest time in a gap
--   p50_ns     BIGINT   ns     median time per gap
--   p95_ns     BIGINT   ns     95th percentile of the times per gap
--   max_ns     BIGINT   ns     longest time in a gap
--   stddev_ns  BIGINT   ns     sample standard deviation of the times per gap, 0 for one gap
-- check: cause IN ('host_wait', 'launching', 'kernel_wait', 'dependency', 'queued', 'unknown')
-- check: gap_count > 0 AND min_ns > 0
-- check: idle_ns BETWEEN gap_count * min_ns AND gap_count * max_ns
-- check: idle_frac > 0 AND idle_frac <= 1
-- check: min_ns <= p50_ns AND p50_ns <= p95_ns AND p95_ns <= max_ns
-- check: mean_ns BETWEEN min_ns AND max_ns
-- check: stddev_ns >= 0 AND (stddev_ns = 0 OR min_ns < max_ns)
-- reads: idle_statistics, stream_idle
CREATE OR REPLACE MACRO idle_time_breakdown_v2(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to measure [default: all]
    only_steps BIGINT[] := NULL,  -- steps to measure [default: the whole trace]
    kernel_gap_ns BIGINT := 30000  -- ns; only shorter parts can be kernel_wait
) AS TABLE
WITH
parts AS (
    SELECT job, rank, device, stream, cause, part_ns AS time_ns
    FROM stream_idle(only_jobs, only_ranks, only_steps, kernel_gap_ns)
)
FROM idle_statistics(parts)
ORDER BY job, rank, device, stream, idle_ns DESC, cause;
