-- The GPUs of each host, and which of them are slow in job after job.
--
-- job_ranks compares each rank's kernels with the same kernels on the job's other ranks. A
-- compute_ratio of 1.2 is 20 % slower. In this query, a GPU is identified by its host and its local
-- rank. Its compute_ratio is the median over its jobs, so that one odd job does not decide:
--
--     host/local rank   h1/0   h2/0   h3/0   h4/0
--     job a             1.00   1.24   1.00
--     job b             1.00   1.22          0.99
--     job c                    1.23   1.01   1.00
--     compute_ratio     1.00   1.23   1.005  0.995
--
-- A job on a single host compares ranks only with other ranks on that host. This finds a slow GPU,
-- but not a host that is slow as a whole. Jobs on several hosts are better evidence. For each GPU,
-- the query decides which jobs count:
--   * A job counts only if the GPU has a compute_ratio in the job.
--   * If at least `min_jobs` of these jobs ran on several hosts, the jobs on a single host do not
--     count.
--   * If fewer than `min_jobs` jobs count, there is too little evidence, and is_outlier is NULL.
--
-- z_score is how far the GPU's compute_ratio x is above the median, in robust standard deviations
-- (Iglewicz and Hoaglin, 1993). The medians are over all GPUs with enough evidence:
--
--     z_score = 0.6745 (x - median) / median of |x - median|
--
-- A GPU is an outlier if all three hold:
--   * Its z_score is 3.5 or more.
--   * Its compute_ratio is at least (1 + `min_slowdown`) * median.
--   * Its slow_frac is above 0.5: in more than half of the jobs that count, its compute_ratio in
--     the job is at least (1 + `min_slowdown`) * median.
--
-- If more than half of the GPUs have exactly the same compute_ratio, z_score is not defined and is
-- NULL. The other two conditions then decide.
--
-- launch_ratio, late_count and lost_gpu_ns are further evidence, and do not change is_outlier. A
-- rank can also be late because it has other work, or because of its place in a pipeline.
--
-- Ranks are left out if their traces do not name a host, or if they ran nothing on a GPU.
--
-- since: 0.1
-- grain: host, local_rank
-- needs: stored_results
-- returns:
--   host                VARCHAR  -      machine, as named in the traces
--   local_rank          BIGINT   -      number of the GPU on the host, as in job_ranks
--   device_name         VARCHAR  -      name of the GPU; if jobs differ, the first by name
--   job_count           BIGINT   count  jobs that ran on the GPU
--   evidence_count      BIGINT   count  jobs that count for compute_ratio and is_outlier
--   compute_ratio       DOUBLE   -      median of compute_ratio in job_ranks, over jobs that count;
--                                       NULL if no job counts
--   z_score             DOUBLE   -      robust standard deviations above the median; NULL if there
--                                       is too little evidence, or if z_score is not defined
--   slow_frac           DOUBLE   0-1    of the jobs that count, the share in which the GPU's
--                                       compute_ratio is at least (1 + min_slowdown) * median;
--                                       NULL if no job counts or no GPU has enough evidence
--   is_outlier          BOOLEAN  -      whether all three conditions hold; NULL: too little
--                                       evidence
--   host_gpu_count      BIGINT   count  GPUs of the host on which jobs ran
--   host_outlier_count  BIGINT   count  outliers among the host's GPUs
--   extra_compute_ns    BIGINT   ns     compared_ns - expected_ns of job_ranks, summed over the
--                                       jobs that count; below 0 if the GPU is faster than typical
--   launch_ratio        DOUBLE   -      median of launch_ratio in job_ranks, over all jobs of the
--                                       GPU
--   late_count          BIGINT   count  how often the GPU's ranks caused a late arrival at a
--                                       collective or message
--   lost_gpu_ns         BIGINT   ns     GPU time that other ranks lost by these arrivals; NULL if
--                                       not known
--   lost_gpu_frac       DOUBLE   0-1    lost_gpu_ns / GPU time of all ranks of the GPU's jobs
-- check: job_count >= evidence_count AND evidence_count >= 0
-- check: (compute_ratio IS NULL) = (evidence_count = 0)
-- check: slow_frac BETWEEN 0 AND 1
-- check: is_outlier IS NOT TRUE OR (slow_frac > 0.5 AND coalesce(z_score >= 3.5, true))
-- check: z_score IS NULL OR is_outlier IS NOT NULL
-- check: host_outlier_count BETWEEN 0 AND host_gpu_count
-- check: lost_gpu_ns >= 0
-- check: lost_gpu_frac BETWEEN 0 AND 1
-- reads: stored_job_ranks
CREATE OR REPLACE MACRO host_outliers_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to look at [default: all]
    min_jobs INTEGER := 2,  -- least number of jobs needed to judge a GPU
    min_slowdown DOUBLE := 0.03  -- least slowdown of an outlier, 0.03 for 3 %
) AS TABLE
WITH
ranks AS (
    SELECT
        r.*,
        count(DISTINCT r.host) OVER of_job > 1 AS is_across_hosts,
        sum(r.gpu_span_ns) OVER of_job AS job_span_ns
    FROM stored_job_ranks AS r
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, r.job))
    WINDOW of_job AS (PARTITION BY r.job)
),
on_hosts AS (
    SELECT
        *,
        count(*) FILTER (is_across_hosts AND compute_ratio IS NOT NULL) OVER of_gpu
            AS across_count
    FROM ranks
    WHERE host IS NOT NULL AND local_rank IS NOT NULL
    WINDOW of_gpu AS (PARTITION BY host, local_rank)
),
judged AS (
    SELECT
        *,
        compute_ratio IS NOT NULL AND (is_across_hosts OR across_count < min_jobs) AS is_evidence
    FROM on_hosts
),
gpus AS (
    SELECT
        host,
        local_rank,
        min(device_name) AS device_name,
        count(*) AS job_count,
        count(*) FILTER (is_evidence) AS evidence_count,
        median(compute_ratio) FILTER (is_evidence) AS compute_ratio,
        list(compute_ratio) FILTER (is_evidence) AS ratios,
        coalesce(sum(compared_ns - expected_ns) FILTER (is_evidence), 0)::BIGINT
            AS extra_compute_ns,
        median(launch_ratio) AS launch_ratio,
        sum(late_count)::BIGINT AS late_count,
        CASE WHEN count(lost_gpu_ns) = count(*) THEN sum(lost_gpu_ns)::BIGINT END AS lost_gpu_ns,
        sum(job_span_ns) AS job_span_ns
    FROM judged
    GROUP BY host, local_rank
),
middle AS (
    SELECT median(compute_ratio) AS ratio
    FROM gpus
    WHERE evidence_count >= min_jobs
),
scatter AS (
    SELECT any_value(m.ratio) AS ratio, median(abs(g.compute_ratio - m.ratio)) AS deviation
    FROM gpus AS g
    CROSS JOIN middle AS m
    WHERE g.evidence_count >= min_jobs
),
measured AS (
    SELECT
        g.*,
        g.compute_ratio / s.ratio - 1 AS slowdown,
        0.6745 * (g.compute_ratio - s.ratio) / nullif(s.deviation, 0) AS z_score,
        CASE
            WHEN s.ratio IS NOT NULL
            THEN len(list_filter(g.ratios, lambda x: x / s.ratio - 1 >= min_slowdown))
                / nullif(g.evidence_count, 0)
        END AS slow_frac
    FROM gpus AS g
    CROSS JOIN scatter AS s
),
verdicts AS (
    SELECT
        *,
        CASE
            WHEN evidence_count >= min_jobs
            THEN slowdown >= min_slowdown AND slow_frac > 0.5 AND coalesce(z_score >= 3.5, true)
        END AS is_outlier
    FROM measured
)
SELECT
    host,
    local_rank,
    device_name,
    job_count,
    evidence_count,
    compute_ratio,
    CASE WHEN evidence_count >= min_jobs THEN z_score END AS z_score,
    slow_frac,
    is_outlier,
    count(*) OVER (PARTITION BY host) AS host_gpu_count,
    count(*) FILTER (is_outlier) OVER (PARTITION BY host) AS host_outlier_count,
    extra_compute_ns,
    launch_ratio,
    late_count,
    lost_gpu_ns,
    lost_gpu_ns / nullif(job_span_ns, 0) AS lost_gpu_frac
FROM verdicts
ORDER BY is_outlier DESC NULLS LAST, compute_ratio DESC NULLS LAST, host, local_rank;
