-- Each stream's idle time between activities, by cause.
--
-- A gap runs from the latest end on the stream to the next start after it. The activity that ends
-- the gap sets the cause of the whole gap:
--
--     host_wait    its launch began after the start of the gap
--     kernel_wait  launched in time, and the gap is below kernel_gap_ns
--     other        launched in time, and the gap is kernel_gap_ns or more
--
-- With host_wait, the host was late. With kernel_wait, the gap is the short time that a device
-- needs between kernels. With other, the activity waited, for example for another stream.
--
-- An activity is launched in time if its launch began before the gap or exactly at the gap's start.
-- An activity without a launch counts as launched in time.
--
--     launches             |a   |b             |c
--     stream                  [===a===)            [==c===)
--                                [=b=)                 inside a: no gap
--     gap                             .............    before c: host_wait
--
-- There is no gap before a stream's first activity. There is also none if an activity starts
-- exactly at the latest end. Of activities with equal starts, the one with the lower event_id is
-- first. A cause without gaps has no row.
--
-- If steps are selected, only activities of these steps count. A gap can then include time in which
-- activities of other steps run. Means, percentiles and deviations are rounded to whole ns.
--
-- The causes are those of HTA. Version 2 cuts a gap at the launch instead, so that a gap after the
-- launch does not count as host_wait.
--
-- HTA's get_idle_time_breakdown measures a gap from the end of the activity that started last. If
-- activities on a stream overlap, gaps can therefore be negative. HTA also counts gaps of length
-- zero, and one gap per stream before the first activity, with the cause `other` and duration 0. If
-- no activities on a stream overlap, the times are the same.
--
-- since: 0.1
-- grain: job, rank, device, stream, cause
-- needs: gpu_activities
-- returns:
--   job        VARCHAR  -      run of a program
--   rank       INTEGER  -      rank of the process
--   device     BIGINT   -      GPU, as the process numbers it
--   stream     BIGINT   -      stream of the device
--   cause      VARCHAR  -      host_wait, kernel_wait or other
--   gap_count  BIGINT   count  gaps with that cause
--   idle_ns    BIGINT   ns     sum of these gaps
--   idle_frac  DOUBLE   0-1    idle_ns / idle time of the stream; a stream's rows add up to 1
--   mean_ns    BIGINT   ns     mean gap
--   min_ns     BIGINT   ns     shortest gap
--   p50_ns     BIGINT   ns     median gap
--   p95_ns     BIGINT   ns     95th percentile of the gaps
--   max_ns     BIGINT   ns     longest gap
--   stddev_ns  BIGINT   ns     sample standard deviation of the gaps, 0 for one gap
-- check: cause IN ('host_wait', 'kernel_wait', 'other')
-- check: gap_count > 0 AND min_ns > 0
-- check: idle_ns BETWEEN gap_count * min_ns AND gap_count * max_ns
-- check: idle_frac > 0 AND idle_frac <= 1
-- check: min_ns <= p50_ns AND p50_ns <= p95_ns AND p95_ns <= max_ns
-- check: mean_ns BETWEEN min_ns AND max_ns
-- check: stddev_ns >= 0 AND (stddev_ns = 0 OR min_ns < max_ns)
-- reads: activities_of, idle_before, idle_statistics
CREATE OR REPLACE MACRO idle_time_breakdown_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to measure [default: all]
    only_steps BIGINT[] := NULL,  -- steps to measure [default: the whole trace]
    kernel_gap_ns BIGINT := 30000  -- ns; only shorter gaps can be kernel_wait
) AS TABLE
WITH
picked AS (
    FROM activities_of(only_jobs, only_ranks, only_steps)
),
gaps AS (
    SELECT job, rank, device, stream, cause, gap_ns AS time_ns
    FROM idle_before(picked, kernel_gap_ns)
)
FROM idle_statistics(gaps)
ORDER BY job, rank, device, stream, idle_ns DESC, cause;
