-- How well each device's kernels fill it: occupancy, busy multiprocessors, tensor cores.
--
-- Each figure is a mean over the device's kernels, weighted by their durations: long kernels count
-- more, and kernels that overlap count each in full. Copies and memsets are no kernels.
--
--     kernel                          dur_ns   occupancy   blocks per SM   tensor cores
--     sm90_xmma_gemm_bf16bf16_...         30        0.20            0.50            yes
--     vectorized_elementwise_kernel       10        1.00            4.00             no
--
--     occupancy_frac      (30 * 0.20 + 10 * 1.00) / 40 = 0.4
--     sm_efficiency_frac  (30 * 0.50 + 10 * 1.00) / 40 = 0.625
--     tensor_core_frac                        30  / 40 = 0.75
--
-- Occupancy and blocks per multiprocessor (SM) are the profiler's: without them, as on AMD, both
-- figures are NULL; kernels that lack them, or have impossible ones (an occupancy above 1, anything
-- negative), do not count in them. From one block per SM on, every SM has work.
--
-- A collective's kernel fills little of the device, and runs the longer the longer it waits: the
-- columns computation_... are over the kernels that compute, and do not change with waiting.
--
-- Only a kernel's name tells that it runs on tensor cores (on AMD: matrix cores), and not every
-- name does: the fraction is a lower bound. Triton's kernels, above all, are missing in it.
--
-- HTA has no such figures. TensorBoard's profiler plugin has; its SM efficiency counts idle time as
-- well, and its names of kernels on tensor cores end with Ampere's.
--
-- since: 0.1
-- grain: job, rank, device
-- returns:
--   job                             VARCHAR  -    run of a program
--   rank                            INTEGER  -    rank of the process
--   device                          BIGINT   -    GPU, as the process numbers it
--   occupancy_frac                  DOUBLE   0-1  estimated occupancy, over kernels that carry it
--   sm_efficiency_frac              DOUBLE   0-1  blocks per SM, at most 1, likewise
--   tensor_core_frac                DOUBLE   0-1  tensor_core_ns / kernel_ns
--   computation_occupancy_frac      DOUBLE   0-1  the same three, over computation alone
--   computation_sm_efficiency_frac  DOUBLE   0-1  likewise
--   computation_tensor_core_frac    DOUBLE   0-1  likewise
--   kernel_ns                       BIGINT   ns   sum of the kernels' durations
--   tensor_core_ns                  BIGINT   ns   sum of those on tensor cores
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
    only_steps BIGINT[] := NULL  -- steps to measure [default: all, also outside steps]
) AS TABLE
WITH
-- A device that only copies has a row, too.
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
-- In whole 1e-12, since sums of doubles depend on their order.
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
-- Once a name, since patterns cost more than a join.
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
