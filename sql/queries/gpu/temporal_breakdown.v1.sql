-- How each device's time splits into idle, computing, and busy with something else.
--
-- An instant is busy when anything runs on the device, on any stream, and computing when a
-- computation kernel does, whatever runs beside it. So communication and copies that hide behind
-- computation cost nothing; what does not hide is exposed.
--
--     computation     [===========)                 [======)
--     communication         [============)
--     memory              [===)       [=======)
--                     cccccccccccckkkkkkkmmmmm......ccccccc
--
--     c compute, k exposed communication, m exposed memory, . idle
--
-- Activities of no length lengthen the span, nothing else. Selected steps are measured from their
-- first activity to their last, whatever lies between them.
--
-- This is HTA's get_temporal_breakdown for each device instead of each rank, exact where HTA's
-- time stamps are rounded to whole microseconds, and of real activities only: HTA also takes
-- synchronisations and Triton's host rows for busy time, and fails on ranks without a GPU.
--
-- since: 0.1
-- grain: job, rank, device
-- returns:
--   job                       VARCHAR  -    run of a program
--   rank                      INTEGER  -    rank of the process
--   device                    BIGINT   -    GPU, as the process numbers it
--   span_ns                   BIGINT   ns   first activity's start to the last one's end
--   busy_ns                   BIGINT   ns   time with one activity or more
--   idle_ns                   BIGINT   ns   the rest of the span
--   compute_ns                BIGINT   ns   time with computation
--   non_compute_ns            BIGINT   ns   busy time without computation
--   communication_ns          BIGINT   ns   time with communication
--   memory_ns                 BIGINT   ns   time with copies or memsets
--   exposed_communication_ns  BIGINT   ns   time with communication, but no computation
--   exposed_memory_ns         BIGINT   ns   time with copies or memsets and nothing else
--   idle_frac                 DOUBLE   0-1  idle_ns / span_ns
--   compute_frac              DOUBLE   0-1  compute_ns / span_ns
--   non_compute_frac          DOUBLE   0-1  non_compute_ns / span_ns
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
    only_steps BIGINT[] := NULL  -- steps to measure [default: all, also outside steps]
) AS TABLE
WITH
busy AS (
    FROM device_times(only_jobs, only_ranks, only_steps)
)
SELECT * EXCLUDE (step)
FROM time_breakdown(busy)
ORDER BY job, rank, device;
