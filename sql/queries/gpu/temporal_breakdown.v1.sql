-- Idle, compute and non-compute time of each device.
--
-- A device is busy while any activity runs on it, on any stream. It computes while a computation
-- kernel runs, even if other activities run at the same time. Communication and copies that overlap
-- with computation therefore add no non-compute time. Communication is exposed while no computation
-- runs. Copies and memsets are exposed while neither computation nor communication runs.
--
--     computation     [===========)                 [======)
--     communication         [============)
--     memory              [===)       [=======)
--                     cccccccccccckkkkkkkmmmmm......ccccccc
--
--     c compute, k exposed communication, m exposed memory, . idle
--
-- The span runs from the first activity's start to the last activity's end. An activity of zero
-- length can lengthen the span, but adds no busy time. If steps are selected, only their activities
-- count, and the span includes the time between the steps.
--
-- HTA's get_temporal_breakdown has one row per rank, not per device, and rounds timestamps to whole
-- microseconds. It also counts synchronisations and Triton's host operators as busy time. If one
-- rank has no GPU activities, it raises an error for all ranks.
--
-- since: 0.1
-- grain: job, rank, device
-- needs: gpu_activities
-- returns:
--   job                       VARCHAR  -    run of a program
--   rank                      INTEGER  -    rank of the process
--   device                    BIGINT   -    GPU, as the process numbers it
--   span_ns                   BIGINT   ns   first activity's start to last activity's end
--   busy_ns                   BIGINT   ns   time with at least one activity
--   idle_ns                   BIGINT   ns   time in the span without any activity
--   compute_ns                BIGINT   ns   time with computation
--   non_compute_ns            BIGINT   ns   busy time without computation
--   communication_ns          BIGINT   ns   time with communication
--   memory_ns                 BIGINT   ns   time with copies or memsets
--   exposed_communication_ns  BIGINT   ns   time with communication but no computation
--   exposed_memory_ns         BIGINT   ns   time with copies or memsets and nothing else
--   idle_frac                 DOUBLE   0-1  idle_ns / span_ns; NULL if span_ns is 0
--   compute_frac              DOUBLE   0-1  compute_ns / span_ns; NULL if span_ns is 0
--   non_compute_frac          DOUBLE   0-1  non_compute_ns / span_ns; NULL if span_ns is 0
-- check: busy_ns + idle_ns = span_ns
-- check: compute_ns + non_compute_ns = busy_ns
-- check: compute_ns + exposed_communication_ns + exposed_memory_ns = busy_ns
-- check: idle_ns >= 0 AND compute_ns >= 0
-- check: exposed_communication_ns BETWEEN 0 AND communication_ns
-- check: exposed_memory_ns BETWEEN 0 AND memory_ns
-- check: (idle_frac IS NULL) = (span_ns = 0)
-- check: abs(idle_frac + compute_frac + non_compute_frac - 1) < 1e-9
-- reads: device_times, time_breakdown
CREATE OR REPLACE MACRO temporal_breakdown_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to measure [default: all]
    only_steps BIGINT[] := NULL  -- steps to measure [default: the whole trace]
) AS TABLE
WITH
busy AS (
    FROM device_times(only_jobs, only_ranks, only_steps)
)
SELECT * EXCLUDE (step)
FROM time_breakdown(busy)
ORDER BY job, rank, device;
