-- How much of each device's communication is hidden behind computation.
--
--     computation     [===========)         [=======)
--     communication         [============)    [===)
--     overlap               [=====)           [===)
--
--     communication_ns 13 + 4 = 17, overlap_ns 6 + 4 = 10
--
-- communication_ns and overlap_ns are unions: if several collectives run at the same instant, that
-- instant counts once. If a device has no communication, its overlap_frac is NULL.
--
-- HTA's get_comm_comp_overlap reports only the percentage, rounded, and for a whole rank. If there
-- is no communication, it reports NaN.
--
-- since: 0.1
-- grain: job, rank, device
-- needs: gpu_activities
-- returns:
--   job               VARCHAR  -    run of a program
--   rank              INTEGER  -    rank of the process
--   device            BIGINT   -    GPU, as the process numbers it
--   communication_ns  BIGINT   ns   time with at least one communication activity
--   overlap_ns        BIGINT   ns   time with both communication and computation
--   overlap_frac      DOUBLE   0-1  overlap_ns / communication_ns
-- check: overlap_ns BETWEEN 0 AND communication_ns
-- check: overlap_frac BETWEEN 0 AND 1
-- check: (overlap_frac IS NULL) = (communication_ns = 0)
-- reads: device_times
CREATE OR REPLACE MACRO comm_comp_overlap_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to measure [default: all]
    only_steps BIGINT[] := NULL  -- steps to measure [default: the whole trace]
) AS TABLE
SELECT
    job,
    rank,
    device,
    communication_ns,
    computation_ns + communication_ns - computation_or_communication_ns AS overlap_ns,
    overlap_ns / nullif(communication_ns, 0) AS overlap_frac
FROM device_times(only_jobs, only_ranks, only_steps)
ORDER BY job, rank, device;
