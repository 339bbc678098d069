-- Each device's mean kernel occupancy, SM efficiency and tensor core share.
--
-- Each fraction is a mean over the device's kernels, weighted by duration. Long kernels count more,
-- and overlapping kernels each count in full. Copies and memsets are not kernels.
--
--     kernel                      dur_ns  occupancy  blocks/SM  tensor core
--     sm90_xmma_gemm_bf16bf16_...     30       0.20       0.50          yes
--     vectorized_elementwise_...      10       1.00       4.00           no
--
--     occupancy_frac      (30 * 0.20 + 10 * 1.00) / 40 = 0.4
--     sm_efficiency_frac  (30 * 0.50 + 10 * 1.00) / 40 = 0.625
--     tensor_core_frac                        30  / 40 = 0.75
--
-- The SM efficiency of a kernel is its number of blocks per streaming multiprocessor (SM), but at
-- most 1. With one block per SM or more, every SM has work.
--
-- Occupancy and blocks per SM come from the profiler. If the trace does not record them, as on AMD,
-- the columns of occupancy and SM efficiency are NULL. A kernel does not count in a column if the
-- kernel's value is missing or impossible, such as an occupancy above 1 or a negative value.
--
-- The kernel of a collective uses little of the device. It runs longer if it waits longer for other
-- ranks, and then counts more. The columns computation_... cover only computation kernels, so such
-- waits do not change them.
--
-- Only the name of a kernel shows that the kernel uses tensor cores (on AMD: matrix cores), and
-- some names do not show it. In particular, the names of Triton's kernels do not. tensor_core_ns
-- and the tensor core fractions are therefore lower bounds.
--
-- TensorBoard's profiler plugin has similar figures, but its SM efficiency also counts idle time.
-- Its list of tensor core kernels has no names for GPUs after Ampere.
--
-- since: 0.1
-- grain: job, rank, device
-- needs: gpu_activities
-- returns:
--   job                             VARCHAR  -    run of a program
--   rank                            INTEGER  -    rank of the process
--   device                          BIGINT   -    GPU, as the process numbers it
--   occupancy_frac                  DOUBLE   0-1  mean of the profiler's estimated occupancy
--   sm_efficiency_frac              DOUBLE   0-1  mean of blocks per SM, at most 1 per kernel
--   tensor_core_frac                DOUBLE   0-1  tensor_core_ns / kernel_ns
--   computation_occupancy_frac      DOUBLE   0-1  occupancy_frac of computation kernels
--   computation_sm_efficiency_frac  DOUBLE   0-1  sm_efficiency_frac of computation kernels
--   computation_tensor_core_frac    DOUBLE   0-1  tensor_core_frac of computation kernels
--   kernel_ns                       BIGINT   ns   sum of the kernels' durations
--   tensor_core_ns                  BIGINT   ns   sum of the durations of tensor core kernels
-- check: occupancy_frac BETWEEN 0 AND 1
-- check: sm_efficiency_frac BETWEEN 0 AND 1
-- check: tensor_core_frac BETWEEN 0 AND 1
-- check: computation_occupancy_frac BETWEEN 0 AND 1
-- check: computation_sm_efficiency_frac BETWEEN 0 AND 1
-- check: computation_tensor_core_frac BETWEEN 0 AND 1
-- check: tensor_core_ns BETWEEN 0 AND kernel_ns
-- check: (tensor_core_frac IS NULL) = (kernel_ns = 0)
-- check: kernel_ns > 0 OR (occupancy_frac IS NULL AND sm_efficiency_frac IS NULL)
-- reads: activities_of, tensor_core_use
CREATE OR REPLACE MACRO gpu_efficiency_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to measure [default: all]
    only_steps BIGINT[] := NULL  -- steps to measure [default: the whole trace]
) AS TABLE
WITH
-- Copies and memsets stay, with 0 ns, so that a device that only copies has a row too.
picked AS (
    SELECT
        a.job,
        a.rank,
        a.device,
        a.kind = 'computation' AS computes,
        a.name,
        CASE WHEN a.kind = 'memory' THEN 0 ELSE a.dur_ns END AS kernel_ns,
        CASE WHEN a.occupancy_frac BETWEEN 0 AND 1 THEN a.occupancy_frac END AS occupancy,
        CASE WHEN isfinite(a.blocks_per_sm) AND a.blocks_per_sm >= 0
            THEN least(a.blocks_per_sm, 1)
        END AS sm_efficiency
    FROM activities_of(only_jobs, only_ranks, only_steps) AS a
),
-- Sums are in whole units of 1e-12, since a sum of doubles depends on its order.
by_name AS (
    SELECT
        job,
        rank,
        device,
        computes,
        name,
        sum(kernel_ns) AS kernel_ns,
        sum(kernel_ns) FILTER (occupancy IS NOT NULL) AS occupancy_known_ns,
        sum(kernel_ns * round(occupancy * 1e12)::HUGEINT) AS occupancy_ns,
        sum(kernel_ns) FILTER (sm_efficiency IS NOT NULL) AS sm_efficiency_known_ns,
        sum(kernel_ns * round(sm_efficiency * 1e12)::HUGEINT) AS sm_efficiency_ns
    FROM picked
    GROUP BY job, rank, device, computes, name
),
distinct_names AS (
    SELECT DISTINCT name
    FROM by_name
),
-- Each name is matched once, since patterns cost more than a join.
names AS (
    SELECT name, tensor_core_use(name) IS NOT NULL AS on_tensor_cores
    FROM distinct_names
)
SELECT
    by_name.job,
    by_name.rank,
    by_name.device,
    sum(occupancy_ns) / (1e12 * nullif(sum(occupancy_known_ns), 0)) AS occupancy_frac,
    sum(sm_efficiency_ns) / (1e12 * nullif(sum(sm_efficiency_known_ns), 0)) AS sm_efficiency_frac,
    coalesce(sum(kernel_ns) FILTER (on_tensor_cores), 0) / nullif(sum(kernel_ns), 0)
        AS tensor_core_frac,
    sum(occupancy_ns) FILTER (computes)
        / (1e12 * nullif(sum(occupancy_known_ns) FILTER (computes), 0))
        AS computation_occupancy_frac,
    sum(sm_efficiency_ns) FILTER (computes)
        / (1e12 * nullif(sum(sm_efficiency_known_ns) FILTER (computes), 0))
        AS computation_sm_efficiency_frac,
    coalesce(sum(kernel_ns) FILTER (on_tensor_cores AND computes), 0)
        / nullif(sum(kernel_ns) FILTER (computes), 0) AS computation_tensor_core_frac,
    sum(kernel_ns)::BIGINT AS kernel_ns,
    coalesce(sum(kernel_ns) FILTER (on_tensor_cores), 0)::BIGINT AS tensor_core_ns
FROM by_name
JOIN names ON names.name IS NOT DISTINCT FROM by_name.name
GROUP BY by_name.job, by_name.rank, by_name.device
ORDER BY by_name.job, by_name.rank, by_name.device;
