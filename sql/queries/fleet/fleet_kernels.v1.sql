-- The kernels of all jobs by GPU time, and how fast each job runs them.
--
-- The query adds up the rows of job_kernels over jobs. A row is one kernel, copy or memset that one
-- operator launched with arguments of one shape, on GPUs of one name. What job_kernels folds into
-- the rest of a job has no row here, but counts in total_frac.
--
-- A job's speed is its mean time per call and, if operations are known, its achieved_tflops: the
-- operations divided by the time of their calls. Each job gives one value, whatever its size:
--
--     mean_p10_ns   10th percentile of the jobs' mean times: from the fastest job on, the first
--                   at which a tenth of the jobs is reached
--     mean_p50_ns   the same for half of the jobs
--
--     saved_p10_ns  sum over jobs of total_ns - count * mean_p10_ns, where this is positive
--     saved_p50_ns  the same with mean_p50_ns
--
-- saved_p10_ns is the GPU time saved if every slower job ran the kernel as fast as the best tenth
-- of the jobs; saved_p50_ns, as fast as the median job. Both are NULL for communication, since its
-- kernels wait for other ranks. Both are also NULL if shapes are not recorded, since one row then
-- mixes calls of all sizes. Kernels that run at the same time each count in full, so steps may get
-- shorter by less than that.
--
-- since: 0.1
-- grain: device_name, kind, name, op_name, input_dims, input_types, concrete_inputs
-- needs: `hta-sql materialize`
-- returns:
--   device_name      VARCHAR  -      GPU
--   kind             VARCHAR  -      computation, communication or memory
--   name             VARCHAR  -      name of the kernel, copy or memset
--   op_name          VARCHAR  -      operator that launched it
--   input_dims       VARCHAR  -      JSON: sizes of each argument of the operator
--   input_types      VARCHAR  -      JSON: type of each argument
--   concrete_inputs  VARCHAR  -      JSON: other arguments' values; NULL if operations are not
--                                    known
--   position         BIGINT   -      1 for the longest total
--   job_count        BIGINT   count  jobs that run it
--   count            BIGINT   count  calls of the kernel
--   total_ns         BIGINT   ns     sum of the calls' durations
--   total_frac       DOUBLE   0-1    share of the GPU time of all activities of the jobs
--   mean_min_ns      BIGINT   ns     mean time per call in the fastest job
--   mean_p10_ns      BIGINT   ns     10th percentile over jobs of the mean time per call
--   mean_p50_ns      BIGINT   ns     median over jobs of the mean time per call
--   mean_max_ns      BIGINT   ns     mean time per call in the slowest job
--   tflops_min       DOUBLE   -      achieved 1e12 operations per second, in the slowest job
--   tflops_p50       DOUBLE   -      the same, median over jobs
--   tflops_max       DOUBLE   -      the same, in the fastest job
--   saved_p10_ns     BIGINT   ns     GPU time saved if all jobs matched the best tenth of them
--   saved_p50_ns     BIGINT   ns     GPU time saved if all jobs matched the median job
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
    min_jobs INTEGER := 1  -- least number of jobs that run a kernel
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
