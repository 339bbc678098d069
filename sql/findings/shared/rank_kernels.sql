-- Time of each rank in each computation, copy and memset, beside the usual time.
--
-- `only_jobs`: jobs to look at (NULL: all).
-- `steady`: rows of shared_steady.
-- `scopes`: rows of shared_scopes.
--
-- Returns one row per job with several ranks, rank, and name of a kernel on any rank of the job,
-- with rank_count, unit_count and per_unit of scopes, times per step or in the trace, and
--
--     short_name  short name of the kernel
--     is_expert   whether the name is one of the kernels that compute experts, each with its tokens
--     op_id       operator that launched the rank's longest activity with the name
--     is_shared   whether all ranks call the kernel about equally often: up to 20 % more or less
--     total_ns    sum of the rank's durations. Of copies and memsets, only the part counts that no
--                 computation hides
--     usual_ns    lower median of total_ns over the ranks
--     mean_ns     mean of total_ns over the other ranks
--
-- reads: gpu_activities, in_measured_steps
CREATE OR REPLACE MACRO shared_rank_kernels(only_jobs, steady, scopes) AS TABLE
WITH
of_jobs AS (
    SELECT a.*
    FROM gpu_activities AS a
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, a.job))
      AND a.kind <> 'communication'
),
totals AS MATERIALIZED (
    SELECT
        a.job,
        a.rank,
        a.name,
        any_value(a.short_name) AS short_name,
        arg_max(a.op_id, a.dur_ns) AS op_id,
        count(*) AS call_count,
        sum(a.dur_ns - coalesce(a.hidden_ns, 0)) AS total_ns
    FROM in_measured_steps(of_jobs, steady) AS a
    GROUP BY a.job, a.rank, a.name
),
names AS (
    SELECT
        job,
        name,
        any_value(short_name) AS short_name,
        regexp_matches(name, '(?i)grouped|group_?gemm|GroupProblem|moe|expert') AS is_expert
    FROM totals
    GROUP BY job, name
),
-- A kernel that a rank does not run takes no time there.
filled AS (
    SELECT
        s.job,
        s.rank,
        s.rank_count,
        s.unit_count,
        s.per_unit,
        n.name,
        n.short_name,
        n.is_expert,
        t.op_id,
        coalesce(t.call_count, 0) / s.unit_count AS call_count,
        (coalesce(t.total_ns, 0) // s.unit_count)::BIGINT AS total_ns
    FROM query_table(scopes) AS s
    JOIN names AS n ON n.job = s.job
    LEFT JOIN totals AS t ON t.job = s.job AND t.rank = s.rank AND t.name = n.name
    WHERE s.rank_count > 1
)
SELECT
    * EXCLUDE (call_count),
    min(call_count) OVER of_name >= 0.8 * max(call_count) OVER of_name AS is_shared,
    quantile_disc(total_ns, 0.5) OVER of_name AS usual_ns,
    (sum(total_ns) OVER of_name - total_ns) / (rank_count - 1) AS mean_ns
FROM filled
WINDOW of_name AS (PARTITION BY job, name);
