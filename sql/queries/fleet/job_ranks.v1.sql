-- What each rank did, on which GPU and host, and how fast its kernels were.
--
-- In synchronous training all ranks take the same time for a step. A rank that computes slowly has
-- more computation and less waiting. But ranks can also have different work, as the stages of a
-- pipeline do. So the query does not compare whole ranks. It compares each kernel with the same
-- kernel on the job's other ranks: same name, grid, block, operator and operator's shapes, on a GPU
-- of the same name.
--
--     compared_ns    time of the rank's computation kernels that at least one
--                    other rank of the job also runs
--     expected_ns    time that the same calls would take if each took the
--                    typical time of its kernel
--     compute_ratio  compared_ns / expected_ns: 1.2 is 20 % slower than typical
--
-- For each kernel and rank, the query computes the mean time of the kernel's calls. The kernel's
-- typical time is the median of these mean times over ranks. In this example, a job has one kernel.
-- Its mean times are 10, 10 and 13 us, so its typical time is 10 us:
--
--     rank             0                1                2
--     calls            4 of 10 us       2 of 10 us       4 of 13 us
--     compute_ratio    40 / 40 = 1      20 / 20 = 1      52 / 40 = 1.3
--
-- A kernel that only one rank runs is not compared. Communication is not compared either, since it
-- includes waits. With two ranks, the typical time is halfway between their mean times: if these
-- are 9 us and 11 us, the compute_ratios are 0.9 and 1.1. If shapes are not recorded, a kernel that
-- uses one grid for all sizes counts as the same kernel even if the sizes differ.
--
-- launch_ratio shows a slow host: it is the rank's median time per launch, divided by the median
-- over the job's ranks. late_count is the number of late arrivals that the rank caused, and
-- lost_gpu_ns is the GPU time that other ranks lost by these arrivals, as in lost_gpu_time. Busy
-- times are sums over the rank's devices, as in temporal_breakdown.
--
-- local_rank is the number of the GPU on its host. If all ranks of the job on that host have
-- different device numbers, local_rank is the device number. Otherwise, for example if each process
-- sees its own GPU as device 0, local_rank is the rank's place among the job's ranks on that host,
-- from 0. Ranks without GPU activities have no place.
--
-- since: 0.1
-- grain: job, rank
-- needs: traces
-- returns:
--   job                       VARCHAR  -      run of a program
--   rank                      INTEGER  -      rank of the process
--   host                      VARCHAR  -      machine of the rank; NULL if not in the trace
--   device_name               VARCHAR  -      name of the GPU; NULL if the trace does not name it
--   local_rank                BIGINT   -      number of the GPU on the host, from 0; NULL if the
--                                             host is not known or the rank has no GPU activity
--   step_count                BIGINT   count  steps of the rank
--   step_mean_ns              BIGINT   ns     mean duration of a step
--   gpu_span_ns               BIGINT   ns     from the first activity's start to the last one's end
--   busy_ns                   BIGINT   ns     time with one activity or more
--   compute_ns                BIGINT   ns     time with computation
--   communication_ns          BIGINT   ns     time with communication
--   exposed_communication_ns  BIGINT   ns     time with communication, but no computation
--   exposed_memory_ns         BIGINT   ns     time with copies or memsets and nothing else
--   idle_ns                   BIGINT   ns     time without any activity in the span
--   kernel_ns                 BIGINT   ns     sum of durations of computation kernels
--   compared_ns               BIGINT   ns     part of kernel_ns in kernels that other ranks also
--                                             run
--   expected_ns               BIGINT   ns     time that these calls would take at the typical times
--                                             of their kernels
--   compute_ratio             DOUBLE   -      compared_ns / expected_ns; above 1 is slower than
--                                             typical
--   launch_count              BIGINT   count  launches of GPU activities
--   launch_p50_ns             BIGINT   ns     median duration of a launch on the host
--   launch_ratio              DOUBLE   -      launch_p50_ns / median of launch_p50_ns over the
--                                             job's ranks; NULL if no other rank launches
--   late_count                BIGINT   count  how often the rank caused a late arrival at a
--                                             collective or message
--   lost_gpu_ns               BIGINT   ns     GPU time that other ranks lost by these arrivals;
--                                             NULL if not known
-- check: busy_ns + idle_ns = gpu_span_ns
-- check: compute_ns + exposed_communication_ns + exposed_memory_ns = busy_ns
-- check: least(idle_ns, compute_ns, exposed_communication_ns, exposed_memory_ns) >= 0
-- check: exposed_communication_ns <= communication_ns
-- check: compute_ns <= kernel_ns
-- check: compared_ns BETWEEN 0 AND kernel_ns
-- check: expected_ns >= 0
-- check: (compute_ratio IS NULL) = (expected_ns = 0)
-- check: (step_mean_ns IS NULL) = (step_count = 0)
-- check: (launch_p50_ns IS NULL) = (launch_count = 0)
-- check: late_count >= 0 AND (lost_gpu_ns IS NULL OR lost_gpu_ns >= 0)
-- reads: gpu_activities, host_calls, machines, rank_losses, rank_times, step_spans, whole_ns
CREATE OR REPLACE MACRO job_ranks_v1(
    only_jobs VARCHAR[] := NULL  -- jobs to measure [default: all]
) AS TABLE
WITH
ranks AS (
    FROM machines(only_jobs)
),
rank_steps AS (
    SELECT job, rank, count(*) AS step_count, round(avg(step_ns))::BIGINT AS step_mean_ns
    FROM step_spans(only_jobs, NULL, NULL)
    GROUP BY job, rank
),
launchers AS (
    SELECT DISTINCT a.job, a.rank, a.op_id
    FROM gpu_activities AS a
    WHERE a.kind = 'computation'
      AND a.op_id IS NOT NULL
      AND (only_jobs IS NULL OR list_contains(only_jobs, a.job))
),
ops AS (
    SELECT o.job, o.rank, o.event_id AS op_id, o.name AS op_name, o.input_dims
    FROM host_calls AS o
    SEMI JOIN launchers AS l ON l.job = o.job AND l.rank = o.rank AND l.op_id = o.event_id
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, o.job))
),
rank_kernels AS (
    SELECT
        a.job,
        a.rank,
        r.device_name,
        a.name,
        a.grid,
        a.block,
        o.op_name,
        o.input_dims,
        count(*) AS call_count,
        sum(a.dur_ns)::BIGINT AS total_ns
    FROM gpu_activities AS a
    JOIN ranks AS r ON r.job = a.job AND r.rank = a.rank
    LEFT JOIN ops AS o ON o.job = a.job AND o.rank = a.rank AND o.op_id = a.op_id
    WHERE a.kind = 'computation'
      AND (only_jobs IS NULL OR list_contains(only_jobs, a.job))
    GROUP BY ALL
),
held_against AS (
    SELECT
        job,
        rank,
        call_count,
        total_ns,
        count(*) OVER same_kernel AS rank_count,
        median(total_ns / call_count) OVER same_kernel AS typical_ns
    FROM rank_kernels
    WINDOW same_kernel AS (
        PARTITION BY job, device_name, name, grid, block, op_name, input_dims
    )
),
compared AS (
    SELECT
        job,
        rank,
        sum(total_ns)::BIGINT AS kernel_ns,
        coalesce(sum(total_ns) FILTER (rank_count > 1), 0)::BIGINT AS compared_ns,
        coalesce(sum(round(call_count * typical_ns)::BIGINT) FILTER (rank_count > 1), 0)::BIGINT
            AS expected_ns
    FROM held_against
    GROUP BY job, rank
),
launch_calls AS (
    SELECT a.job, a.rank, a.launch_id, any_value(a.launch_end_ns - a.launch_start_ns) AS launch_ns
    FROM gpu_activities AS a
    WHERE a.launch_id IS NOT NULL
      AND (only_jobs IS NULL OR list_contains(only_jobs, a.job))
    GROUP BY a.job, a.rank, a.launch_id
),
rank_launches AS (
    SELECT
        job,
        rank,
        count(*) AS launch_count,
        whole_ns(quantile_cont(launch_ns, 0.5)) AS launch_p50_ns
    FROM launch_calls
    GROUP BY job, rank
),
launches AS (
    SELECT
        *,
        CASE WHEN count(*) OVER of_job > 1 THEN median(launch_p50_ns) OVER of_job END
            AS typical_ns
    FROM rank_launches
    WINDOW of_job AS (PARTITION BY job)
),
placed AS (
    SELECT
        r.*,
        b.* EXCLUDE (job, rank),
        CASE
            WHEN r.host IS NULL OR b.device IS NULL THEN NULL
            WHEN count(DISTINCT b.device) OVER of_host = count(b.device) OVER of_host
            THEN b.device
            ELSE count(b.device) OVER (
                PARTITION BY r.job, r.host ORDER BY r.rank ROWS UNBOUNDED PRECEDING
            ) - 1
        END AS local_rank
    FROM ranks AS r
    LEFT JOIN rank_times(only_jobs, NULL, NULL) AS b ON b.job = r.job AND b.rank = r.rank
    WINDOW of_host AS (PARTITION BY r.job, r.host)
)
SELECT
    p.job,
    p.rank,
    p.host,
    p.device_name,
    p.local_rank,
    coalesce(s.step_count, 0) AS step_count,
    s.step_mean_ns,
    coalesce(p.span_ns, 0) AS gpu_span_ns,
    coalesce(p.busy_ns, 0) AS busy_ns,
    coalesce(p.compute_ns, 0) AS compute_ns,
    coalesce(p.communication_ns, 0) AS communication_ns,
    coalesce(p.both_ns - p.compute_ns, 0) AS exposed_communication_ns,
    coalesce(p.busy_ns - p.both_ns, 0) AS exposed_memory_ns,
    coalesce(p.span_ns - p.busy_ns, 0) AS idle_ns,
    coalesce(c.kernel_ns, 0) AS kernel_ns,
    coalesce(c.compared_ns, 0) AS compared_ns,
    coalesce(c.expected_ns, 0) AS expected_ns,
    c.compared_ns / nullif(c.expected_ns, 0) AS compute_ratio,
    coalesce(l.launch_count, 0) AS launch_count,
    l.launch_p50_ns,
    l.launch_p50_ns / nullif(l.typical_ns, 0) AS launch_ratio,
    coalesce(x.late_count, 0) AS late_count,
    CASE WHEN x.job IS NULL THEN 0 ELSE x.lost_ns END AS lost_gpu_ns
FROM placed AS p
LEFT JOIN rank_steps AS s ON s.job = p.job AND s.rank = p.rank
LEFT JOIN compared AS c ON c.job = p.job AND c.rank = p.rank
LEFT JOIN launches AS l ON l.job = p.job AND l.rank = p.rank
LEFT JOIN rank_losses(only_jobs) AS x ON x.job = p.job AND x.rank = p.rank
ORDER BY p.job, p.rank;
