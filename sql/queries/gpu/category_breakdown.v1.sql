-- How long each device ran each combination of kernel categories.
--
-- Each busy instant counts once, for the combination of all categories that run at that instant.
--
--     gemm           [===========)                 [======)
--     communication        [============)
--                    1     2     3                 1
--
--     1  gemm                time_ns 6 + 7 = 13
--     2  communication+gemm  time_ns 6
--     3  communication       time_ns 7
--
-- The categories of a combination are in alphabetical order. Combinations that never ran have no
-- row. A category comes from the name of the operator that launched the activity, or from the
-- kernel's name. The view category_rules lists the rules. `other` matches no rule. The
-- categories communication and memory are the kinds of these names, as in kernel_kind_breakdown.
--
-- since: 0.1
-- grain: job, rank, device, categories
-- needs: gpu_activities
-- returns:
--   job         VARCHAR  -    run of a program
--   rank        INTEGER  -    rank of the process
--   device      BIGINT   -    GPU, as the process numbers it
--   categories  VARCHAR  -    the categories that run at the same time, joined by +
--   time_ns     BIGINT   ns   time with exactly these categories
--   time_frac   DOUBLE   0-1  time_ns / busy time of the device; a device's rows add up to 1
-- check: time_ns > 0
-- check: time_frac > 0 AND time_frac <= 1
-- reads: categorised_activities_of, combination_times
CREATE OR REPLACE MACRO category_breakdown_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to measure [default: all]
    only_steps BIGINT[] := NULL  -- steps to measure [default: the whole trace]
) AS TABLE
WITH
labelled_activities AS (
    SELECT
        c.job,
        c.rank,
        c.device,
        c.kernel_category AS label,
        c.start_ns,
        c.end_ns
    FROM categorised_activities_of(only_jobs, only_ranks, only_steps) AS c
)
SELECT
    job,
    rank,
    device,
    labels AS categories,
    time_ns,
    time_ns / sum(time_ns) OVER (PARTITION BY job, rank, device) AS time_frac
FROM combination_times(labelled_activities)
ORDER BY job, rank, device, time_ns DESC, categories;
