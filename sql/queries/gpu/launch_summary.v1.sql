-- Durations of each rank's launches, delays until their activities began, and outliers.
--
-- Terms are as in launch_stats, but each launch counts once, even if it has several activities:
--   * cpu_ns is the duration of the launch.
--   * gpu_ns is the sum of the durations of its activities.
--   * The delay of a launch is the delay of the activity that starts first.
--
--     host    [= graph launch =)
--     GPU                          [==)[====)[==)     1 launch, 3 activities
--                              |---|                  delay of the launch
--
-- An activity cannot start before its launch begins. If early_start_count is above 0, the clocks of
-- host and GPU disagree, and every delay includes the offset between them.
--
-- Percentiles interpolate linearly between launches. Means and percentiles are rounded to whole ns.
-- Ranks without launches have no row.
--
-- HTA's get_cuda_kernel_launch_stats returns no counts. It only draws histograms of short kernels
-- and outliers, for the launches that it recognises (see launch_stats). HTA's histogram of short
-- kernels leaves out launches that are longer than runtime_cutoff_ns; short_count includes them.
--
-- since: 0.1
-- grain: job, rank
-- needs: launches
-- returns:
--   job                    VARCHAR  -      run of a program
--   rank                   INTEGER  -      rank of the process
--   launch_count           BIGINT   count  launches with a GPU activity
--   activity_count         BIGINT   count  GPU activities of these launches
--   short_count            BIGINT   count  launches with gpu_ns < cpu_ns
--   runtime_outlier_count  BIGINT   count  launches with cpu_ns > runtime_cutoff_ns
--   delay_outlier_count    BIGINT   count  launches whose delay is > launch_delay_cutoff_ns
--   early_start_count      BIGINT   count  activities that start before their launch begins
--   mean_cpu_ns            BIGINT   ns     mean cpu_ns of a launch
--   mean_gpu_ns            BIGINT   ns     mean gpu_ns of a launch
--   p50_launch_delay_ns    BIGINT   ns     median delay
--   p95_launch_delay_ns    BIGINT   ns     95th percentile of the delay
--   max_launch_delay_ns    BIGINT   ns     longest delay
-- check: launch_count BETWEEN 1 AND activity_count
-- check: short_count BETWEEN 0 AND launch_count
-- check: runtime_outlier_count BETWEEN 0 AND launch_count
-- check: delay_outlier_count BETWEEN 0 AND launch_count
-- check: early_start_count BETWEEN 0 AND activity_count
-- check: mean_cpu_ns >= 0 AND mean_gpu_ns >= 0 AND p50_launch_delay_ns >= 0
-- check: p50_launch_delay_ns <= p95_launch_delay_ns AND p95_launch_delay_ns <= max_launch_delay_ns
-- reads: activities_of, whole_ns
CREATE OR REPLACE MACRO launch_summary_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to measure [default: all]
    only_steps BIGINT[] := NULL,  -- steps to measure [default: the whole trace]
    runtime_cutoff_ns BIGINT := 50000,  -- ns; a launch that takes longer is an outlier
    launch_delay_cutoff_ns BIGINT := 100000,  -- ns; a launch with a longer delay is an outlier
    include_memory BOOLEAN := true  -- whether copies and memsets count
) AS TABLE
WITH
launches AS (
    SELECT
        a.job,
        a.rank,
        a.launch_id,
        count(*) AS activity_count,
        count_if(a.start_ns < a.launch_start_ns) AS early_start_count,
        min(a.launch_end_ns - a.launch_start_ns) AS cpu_ns,  -- the same in each row of a launch
        sum(a.dur_ns) AS gpu_ns,
        greatest(0, min(a.start_ns - a.launch_end_ns)) AS launch_delay_ns
    FROM activities_of(only_jobs, only_ranks, only_steps) AS a
    WHERE (include_memory OR a.kind <> 'memory')
      AND a.launch_id IS NOT NULL
    GROUP BY a.job, a.rank, a.launch_id
)
SELECT
    job,
    rank,
    count(*) AS launch_count,
    sum(activity_count)::BIGINT AS activity_count,
    count_if(gpu_ns < cpu_ns)::BIGINT AS short_count,
    count_if(cpu_ns > runtime_cutoff_ns)::BIGINT AS runtime_outlier_count,
    count_if(launch_delay_ns > launch_delay_cutoff_ns)::BIGINT AS delay_outlier_count,
    sum(early_start_count)::BIGINT AS early_start_count,
    round(avg(cpu_ns))::BIGINT AS mean_cpu_ns,
    round(sum(gpu_ns) / count(*))::BIGINT AS mean_gpu_ns,
    whole_ns(quantile_cont(launch_delay_ns, 0.5)) AS p50_launch_delay_ns,
    whole_ns(quantile_cont(launch_delay_ns, 0.95)) AS p95_launch_delay_ns,
    max(launch_delay_ns) AS max_launch_delay_ns
FROM launches
GROUP BY job, rank
ORDER BY job, rank;
