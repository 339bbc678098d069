-- GPUs of hosts that compute more slowly than others in job after job.
--
-- Each job tells of each of its ranks how its kernels compare with the same kernels on the job's
-- other ranks: compute_ratio of job_ranks, 1.2 for 20 % slower. Of a GPU, a host and the local rank
-- on it, the median over its jobs counts, so that one odd job decides nothing.
--
--     job a   h1/0 1.00   h2/0 1.24   h3/0 1.00
--     job b   h1/0 1.00   h2/0 1.22              h4/0 0.99       median of h2/0: 1.23
--     job c               h2/0 1.23   h3/0 1.01  h4/0 1.00
--
-- Ranks of a job that runs on one host alone are compared with their neighbours there: that tells a
-- slow GPU, but no host that is slow as a whole. So of a GPU only jobs on several hosts count where
-- there are `min_jobs` of them; else all count. With less than `min_jobs` in all there is too
-- little evidence: is_outlier is NULL.
--
-- z_score is by how much the GPU's median is above that of all GPUs with enough evidence, in robust
-- standard deviations (Iglewicz and Hoaglin, 1993):
--
--     z_score = 0.6745 (x - median) / median of |x - median|
--
-- An outlier has 3.5 or more, is slower than the middle GPU by `min_slowdown`, and is so in more
-- than half of its jobs. Where at least half of the GPUs are exactly the same, any z_score is
-- infinite and shown as NULL; the other two decide.
--
-- launch_ratio and what began with the GPU's ranks, late_count and lost_gpu_ns, are further
-- evidence that no verdict depends on: a rank is late also for other work, or for its place in a
-- pipeline.
--
-- Ranks whose traces name no host, or that ran nothing on a GPU, are left out. HTA has no
-- counterpart.
--
-- since: 0.1
-- grain: host, local_rank
-- needs: `hta-sql materialize`
-- returns:
--   host                VARCHAR  -      machine, as the traces name it
--   local_rank          BIGINT   -      which GPU of it, as in job_ranks
--   device_name         VARCHAR  -      GPU; of several the first by name
--   job_count           BIGINT   count  jobs that ran on it
--   evidence_count      BIGINT   count  jobs that count here
--   compute_ratio       DOUBLE   -      median over these jobs; NULL: none
--   z_score             DOUBLE   -      robust standard deviations above the middle GPU
--   slow_frac           DOUBLE   0-1    of these jobs, share with it slow; NULL: no middle GPU
--   is_outlier          BOOLEAN  -      slow, beyond chance and often; NULL: too little evidence
--   host_gpu_count      BIGINT   count  GPUs of the host that jobs ran on
--   host_outlier_count  BIGINT   count  of these, outliers
--   extra_compute_ns    BIGINT   ns     in these jobs, time above that of the median rank
--   launch_ratio        DOUBLE   -      median over all its jobs of launch_ratio in job_ranks
--   late_count          BIGINT   count  late arrivals that began with its ranks
--   lost_gpu_ns         BIGINT   ns     what others lost by them; NULL where some is not known
--   lost_gpu_frac       DOUBLE   0-1    of the GPU time of all ranks of its jobs
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
    only_jobs VARCHAR[] := NULL,  -- jobs to learn from [default: all]
    min_jobs INTEGER := 2,  -- jobs that it takes to judge a GPU
    min_slowdown DOUBLE := 0.03  -- of an outlier: by how much it is slower, 0.03 for 3 %
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
