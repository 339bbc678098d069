-- How long each device ran each combination of activity kinds.
--
-- Each busy instant counts once, for the combination of all kinds that run at that instant.
--
--     computation     [===========)                 [======)
--     communication         [============)
--                     1     2     3                 1
--
--     1  computation                time_ns 6 + 7 = 13
--     2  communication+computation  time_ns 6
--     3  communication              time_ns 7
--
-- The kinds of a combination are in alphabetical order. Combinations that never ran have no row.
--
-- HTA's get_gpu_kernel_breakdown returns two DataFrames. The first has the same times, summed over
-- ranks. HTA cuts each stretch of time to whole us. HTA's name for combination 2 is `COMPUTATION
-- overlapping COMMUNICATION`.
--
-- since: 0.1
-- grain: job, rank, device, kinds
-- needs: gpu_activities
-- returns:
--   job        VARCHAR  -    run of a program
--   rank       INTEGER  -    rank of the process
--   device     BIGINT   -    GPU, as the process numbers it
--   kinds      VARCHAR  -    the kinds that run at the same time, joined by +
--   time_ns    BIGINT   ns   time with exactly these kinds
--   time_frac  DOUBLE   0-1  time_ns / busy time of the device; a device's rows add up to 1
-- check: time_ns > 0
-- check: time_frac > 0 AND time_frac <= 1
-- reads: device_times
CREATE OR REPLACE MACRO kernel_kind_breakdown_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to measure [default: all]
    only_steps BIGINT[] := NULL  -- steps to measure [default: the whole trace]
) AS TABLE
WITH
-- One kind alone: busy time minus the union of the other two kinds. Exactly the kinds A and B, with
-- C as the third: (A or C) + (B or C) - busy time - C. All three kinds: by inclusion and exclusion.
exclusive AS (
    SELECT
        job,
        rank,
        device,
        busy_ns,
        busy_ns - communication_or_memory_ns AS "computation",
        busy_ns - computation_or_memory_ns AS "communication",
        busy_ns - computation_or_communication_ns AS "memory",
        computation_or_memory_ns + communication_or_memory_ns - busy_ns - memory_ns
            AS "communication+computation",
        computation_or_communication_ns + computation_or_memory_ns - busy_ns - computation_ns
            AS "communication+memory",
        computation_or_communication_ns + communication_or_memory_ns - busy_ns - communication_ns
            AS "computation+memory",
        computation_ns + communication_ns + memory_ns + busy_ns
            - computation_or_communication_ns
            - computation_or_memory_ns
            - communication_or_memory_ns AS "communication+computation+memory"
    FROM device_times(only_jobs, only_ranks, only_steps)
),
by_kinds AS (
    UNPIVOT exclusive
    ON COLUMNS(* EXCLUDE (job, rank, device, busy_ns))
    INTO NAME kinds VALUE time_ns
)
SELECT
    job,
    rank,
    device,
    kinds,
    time_ns,
    time_ns / busy_ns AS time_frac
FROM by_kinds
WHERE time_ns > 0
ORDER BY job, rank, device, time_ns DESC, kinds;
