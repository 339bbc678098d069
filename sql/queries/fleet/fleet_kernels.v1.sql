-- The kernels of all jobs by GPU time, and how much their speed differs by job.
--
-- The query adds up the stored rows of job_kernels over jobs. A row is one kernel, copy or memset,
-- with the operator that launched it, the shapes of the operator's arguments and the name of the
-- GPU. The kernels that job_kernels adds up in one row per job (is_rest) have no row here. Their
-- time counts only in the denominator of total_frac.
--
-- Each job has one speed per row, no matter how often it calls the kernel: its mean time per call.
-- If the number of operations is known, the job also has one achieved_tflops: the operations
-- divided by the GPU time of the calls that do them.
--
-- Percentiles of the mean times are not interpolated. The query sorts the mean times of the n jobs,
-- the shortest first, and takes one of them:
--
--     mean_p10_ns  mean time at place 0.1 * n, rounded up: place 3 of 25
--     mean_p50_ns  mean time at place 0.5 * n, rounded up: place 13 of 25
--
-- saved_p10_ns is the GPU time saved if every slower job took only mean_p10_ns per call.
-- saved_p50_ns is the same for mean_p50_ns:
--
--     saved_p10_ns = sum over jobs of max(0, total_ns - count * mean_p10_ns)
--
-- Both are NULL for communication, since its kernels wait for other ranks. Both are also NULL if
-- shapes are not recorded, since the row then mixes calls of all sizes. Kernels that run at the
-- same time each count in full, so steps may get shorter by less than the time saved.
--
-- since: 0.1
-- grain: device_name, kind, name, op_name, input_dims, input_types, concrete_inputs
-- needs: stored_results
-- returns:
--   device_name      VARCHAR  -      name of the GPU
--   kind             VARCHAR  -      computation, communication or memory
--   name             VARCHAR  -      name of the kernel, copy or memset
--   op_name          VARCHAR  -      operator that launched it; NULL if there is none
--   input_dims       VARCHAR  -      JSON: sizes of each argument of the operator
--   input_types      VARCHAR  -      JSON: type of each argument
--   concrete_inputs  VARCHAR  -      JSON list with one text per argument: the value of a number,
--                                    boolean or list, or "" for a tensor. NULL if not recorded, or
--                                    if flops are not known
--   position         BIGINT   -      position by total_ns, 1 for the longest
--   job_count        BIGINT   count  jobs that run the kernel
--   count            BIGINT   count  calls of the kernel
--   total_ns         BIGINT   ns     sum of the calls' durations
--   total_frac       DOUBLE   0-1    total_ns / sum of the durations of all activities of the jobs
--   mean_min_ns      BIGINT   ns     shortest of the jobs' mean times per call
--   mean_p10_ns      BIGINT   ns     10th percentile of the jobs' mean times per call
--   mean_p50_ns      BIGINT   ns     50th percentile of the jobs' mean times per call
--   mean_max_ns      BIGINT   ns     longest of the jobs' mean times per call
--   tflops_min       DOUBLE   -      lowest achieved_tflops of a job, in 1e12 operations per
--                                    second; NULL if no job has a value
--   tflops_p50       DOUBLE   -      median of the jobs' achieved_tflops
--   tflops_max       DOUBLE   -      highest achieved_tflops of a job
--   saved_p10_ns     BIGINT   ns     GPU time saved if slower jobs took mean_p10_ns per call
--   saved_p50_ns     BIGINT   ns     GPU time saved if slower jobs took mean_p50_ns per call
-- check: job_count > 0 AND count >= job_count AND position > 0
-- check: total_frac BETWEEN 0 AND 1
-- check: mean_min_ns <= mean_p10_ns AND mean_p10_ns <= mean_p50_ns AND mean_p50_ns <= mean_max_ns
-- check: tflops_min <= tflops_p50 AND tflops_p50 <= tflops_max
-- check: (tflops_min IS NULL) = (tflops_max IS NULL)
-- check: saved_p50_ns BETWEEN 0 AND saved_p10_ns
-- check: saved_p10_ns <= total_ns
-- check: (saved_p10_ns IS NULL) = (kind = 'communication' OR input_dims IS NULL)
-- reads: stored_job_kernels
CREATE OR REPLACE MACRO fleet_kernels_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to add up [default: all]
    top_k INTEGER := 100,  -- rows to report
    min_jobs INTEGER := 1  -- least number of jobs that a kernel has to run in
) AS TABLE
WITH
jobs_kernels AS (
    SELECT k.*
    FROM stored_job_kernels AS k
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, k.job))
),
totals AS (
    SELECT
        device_name,
        kind,
        name,
        op_name,
        input_dims,
        input_types,
        concrete_inputs,
        count(*) AS job_count,
        sum(k.count)::BIGINT AS call_count,
        sum(k.total_ns)::BIGINT AS total_ns,
        list({'call_count': k.count, 'total_ns': k.total_ns}) AS of_jobs,
        list(round(k.total_ns / k.count)::BIGINT) AS means_ns,
        list(k.achieved_tflops ORDER BY k.achieved_tflops)
            FILTER (k.achieved_tflops IS NOT NULL) AS speeds
    FROM jobs_kernels AS k
    WHERE NOT is_rest
    GROUP BY device_name, kind, name, op_name, input_dims, input_types, concrete_inputs
),
placed AS (
    SELECT
        *,
        row_number() OVER (
            ORDER BY total_ns DESC, device_name, kind, name, op_name, input_dims, input_types,
                concrete_inputs
        ) AS position
    FROM totals
    WHERE job_count >= min_jobs
),
measured AS (
    SELECT
        *,
        list_aggregate(means_ns, 'quantile_disc', 0.1) AS p10_ns,
        list_aggregate(means_ns, 'quantile_disc', 0.5) AS p50_ns,
        kind <> 'communication' AND input_dims IS NOT NULL AS is_comparable
    FROM placed
    WHERE position <= top_k
)
SELECT
    device_name,
    kind,
    name,
    op_name,
    input_dims,
    input_types,
    concrete_inputs,
    position,
    job_count,
    call_count AS count,
    total_ns,
    total_ns / nullif((SELECT sum(k.total_ns) FROM jobs_kernels AS k), 0) AS total_frac,
    list_min(means_ns) AS mean_min_ns,
    p10_ns AS mean_p10_ns,
    p50_ns AS mean_p50_ns,
    list_max(means_ns) AS mean_max_ns,
    speeds[1] AS tflops_min,
    list_median(speeds) AS tflops_p50,
    speeds[-1] AS tflops_max,
    CASE
        WHEN is_comparable
        THEN list_sum(list_transform(
            of_jobs, lambda j: greatest(0, j.total_ns - j.call_count * p10_ns)
        ))::BIGINT
    END AS saved_p10_ns,
    CASE
        WHEN is_comparable
        THEN list_sum(list_transform(
            of_jobs, lambda j: greatest(0, j.total_ns - j.call_count * p50_ns)
        ))::BIGINT
    END AS saved_p50_ns
FROM measured
ORDER BY position;
