-- Idle, compute and non-compute time of each device in each step.
--
-- Terms are as in temporal_breakdown. A device's step consists of the activities launched during
-- the host's step. It runs from the start of the first of these activities to the end of the last.
-- Usually it ends later than the host's step. Steps can overlap on the device. Each step counts
-- only its own activities.
--
--     host    [ProfilerStep#1)[ProfilerStep#2)
--     device         [=======1=======) [==1==)
--     device                           [======2=======)
--
-- Activities without a launch and activities launched outside every step are left out.
--
-- since: 0.1
-- grain: job, rank, device, step
-- needs: steps, gpu_activities
-- returns:
--   job                       VARCHAR  -    run of a program
--   rank                      INTEGER  -    rank of the process
--   device                    BIGINT   -    GPU, as the process numbers it
--   step                      BIGINT   -    number of the step, as in profiler_steps
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
-- reads: activities_of, busy_times, time_breakdown
CREATE OR REPLACE MACRO step_breakdown_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to measure [default: all]
    only_steps BIGINT[] := NULL  -- steps to measure [default: all]
) AS TABLE
WITH
picked AS (
    FROM activities_of(only_jobs, only_ranks, only_steps)
    WHERE step IS NOT NULL
),
busy AS (
    FROM busy_times(picked)
)
FROM time_breakdown(busy)
ORDER BY job, rank, device, step;
