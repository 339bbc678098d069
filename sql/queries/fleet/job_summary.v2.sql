-- One row per job: GPUs, steps, busy and idle time, and the worst rank.
--
-- Times are sums over the devices of all ranks, each computed as in temporal_breakdown. A device's
-- span runs from its first activity to its last:
--
--     gpu_span_ns = busy_ns + idle_ns
--     busy_ns = compute_ns + exposed_communication_ns + exposed_memory_ns
--     idle_ns = host_wait_ns + launching_ns + queued_ns + kernel_wait_ns
--         + unknown_wait_ns
--
-- A device is idle while no activity runs on any of its streams. Each gap is cut into parts by
-- cause, as in idle_gaps:
--
--     host_wait     until the launch of the next activity begins
--     launching     until this launch returns
--     queued        until the activity starts: launched, but not started
--     kernel_wait   the same as queued, but shorter than 30 us
--     unknown_wait  the whole gap, if the next activity has no launch
--
-- A device can wait before its first activity, while the host is in the first step, and after its
-- last activity. These two times are not in gpu_span_ns, but in outside_ns:
--
--     host         [  step 1  )[  step 2  )[  step 3  )
--     device             [==)[==)    [===)[==)
--     gpu_span_ns        |-----------------|
--     outside_ns   |----|                   |----------|
--
-- If a job has no steps, outside_ns is 0: the trace does not say how long the GPU had to work.
--
-- Each fraction is a share of gpu_span_ns, with three exceptions:
--   * utilisation_frac is a share of gpu_span_ns + outside_ns.
--   * overlap_frac is the share of communication time that computation hides, as in
--     comm_comp_overlap.
--   * top_kernel_frac is top_kernel's share of the time of all computation and communication
--     kernels.
--
-- A step lasts as long as its annotation on the host, as in profiler_steps. Mean and median are
-- over the steps of all ranks. top_kernel is the short name of the computation or communication
-- kernel with the most time, summed over all calls of all ranks. With equal times, the first name
-- in the alphabet counts.
--
-- lost_gpu_ns is the time that lost_gpu_time counts: how long ranks waited for a rank that came
-- late to a collective or message, without computation to hide the wait. worst_rank is the rank
-- that caused the largest part of lost_gpu_ns. With equal times, the lowest rank counts. worst_rank
-- is NULL if lost_gpu_ns is 0 or not known.
--
-- top_finding is the first row of the query findings, which ranks what to fix by its gain.
-- finding_count counts the rows with a severity above info. top_finding is NULL if there are none.
-- In plain SQL, both are known only after `hta-sql materialize`, and NULL before.
--
-- A job without GPU activities has GPU times of zero and fractions of NULL.
--
-- since: 0.1
-- grain: job
-- needs: traces
-- returns:
--   job                         VARCHAR    -      run of a program
--   started_at                  TIMESTAMP  -      start of the job, UTC; NULL if not known
--   rank_count                  BIGINT     count  ranks with a trace
--   world_size                  INTEGER    -      ranks that the job had, as reported by its traces
--   host_count                  BIGINT     count  machines that the traces name
--   device_name                 VARCHAR    -      name of the GPU; several joined by commas
--   step_count                  BIGINT     count  different step numbers
--   step_mean_ns                BIGINT     ns     mean duration of a step, over all ranks
--   step_p50_ns                 BIGINT     ns     median duration of a step, over all ranks
--   gpu_span_ns                 BIGINT     ns     from a device's first activity to its last
--   outside_ns                  BIGINT     ns     step time before a device's first activity or
--                                                 after its last
--   busy_ns                     BIGINT     ns     GPU time with one activity or more
--   compute_ns                  BIGINT     ns     GPU time with computation
--   communication_ns            BIGINT     ns     GPU time with communication
--   overlap_ns                  BIGINT     ns     GPU time with computation and communication
--   exposed_communication_ns    BIGINT     ns     GPU time with communication, but no computation
--   exposed_memory_ns           BIGINT     ns     GPU time with copies or memsets and nothing else
--   idle_ns                     BIGINT     ns     GPU time without any activity
--   host_wait_ns                BIGINT     ns     part of idle_ns: nothing is launched
--   launching_ns                BIGINT     ns     part of idle_ns: the launch has not returned
--   queued_ns                   BIGINT     ns     part of idle_ns: launched, but not started
--   kernel_wait_ns              BIGINT     ns     part of idle_ns: the same, below 30 us
--   unknown_wait_ns             BIGINT     ns     part of idle_ns: the launch is not known
--   lost_gpu_ns                 BIGINT     ns     GPU time lost to late ranks; NULL if not known
--   utilisation_frac            DOUBLE     0-1    busy_ns / (gpu_span_ns + outside_ns)
--   busy_frac                   DOUBLE     0-1    busy_ns / gpu_span_ns
--   compute_frac                DOUBLE     0-1    compute_ns / gpu_span_ns
--   overlap_frac                DOUBLE     0-1    overlap_ns / communication_ns
--   exposed_communication_frac  DOUBLE     0-1    exposed_communication_ns / gpu_span_ns
--   idle_frac                   DOUBLE     0-1    idle_ns / gpu_span_ns
--   lost_gpu_frac               DOUBLE     0-1    lost_gpu_ns / gpu_span_ns
--   top_kernel                  VARCHAR    -      kernel with the longest total time, as above
--   top_kernel_ns               BIGINT     ns     sum of the durations of top_kernel's calls
--   top_kernel_frac             DOUBLE     0-1    top_kernel_ns / sum of the durations of all
--                                                 computation and communication kernels
--   worst_rank                  INTEGER    -      rank that cost the other ranks the most GPU time
--   worst_rank_host             VARCHAR    -      machine of worst_rank; NULL if the trace does not
--                                                 name it
--   worst_rank_lost_ns          BIGINT     ns     part of lost_gpu_ns that worst_rank caused
--   top_finding                 VARCHAR    -      title of the finding with the largest gain
--   top_finding_rule            VARCHAR    -      rule of this finding
--   top_gain_frac               DOUBLE     0-1    gain of this finding as a share of a step
--   finding_count               BIGINT     count  findings with a severity above info
-- check: rank_count > 0 AND step_count >= 0
-- check: busy_ns + idle_ns = gpu_span_ns
-- check: compute_ns + exposed_communication_ns + exposed_memory_ns = busy_ns
-- check: overlap_ns + exposed_communication_ns = communication_ns
-- check: host_wait_ns + launching_ns + queued_ns + kernel_wait_ns + unknown_wait_ns = idle_ns
-- check: least(compute_ns, overlap_ns, exposed_memory_ns, exposed_communication_ns) >= 0
-- check: least(idle_ns, host_wait_ns, launching_ns, queued_ns, kernel_wait_ns) >= 0
-- check: (top_finding IS NULL) = (finding_count = 0)
-- check: outside_ns >= 0
-- check: (busy_frac IS NULL) = (gpu_span_ns = 0)
-- check: utilisation_frac <= busy_frac OR busy_frac IS NULL
-- check: (step_mean_ns IS NULL) = (step_count = 0)
-- check: worst_rank_lost_ns > 0 AND worst_rank_lost_ns <= lost_gpu_ns
-- check: (worst_rank IS NULL) = (coalesce(lost_gpu_ns, 0) = 0)
-- check: top_kernel_frac BETWEEN 0 AND 1
-- reads: device_idle, gpu_activities, jobs, jobs_with_known_findings, known_findings, machines,
--   rank_losses, rank_times, step_spans, traces, whole_ns
CREATE OR REPLACE MACRO job_summary_v2(
    only_jobs VARCHAR[] := NULL  -- jobs to summarise [default: all]
) AS TABLE
WITH
job_traces AS (
    SELECT
        t.job,
        count(DISTINCT t.rank) AS rank_count,
        max(t.world_size) AS world_size,
        count(DISTINCT t.host) AS host_count,
        string_agg(DISTINCT t.device_name, ', ' ORDER BY t.device_name) AS device_name
    FROM traces AS t
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, t.job))
    GROUP BY t.job
),
spans AS MATERIALIZED (
    FROM step_spans(only_jobs, NULL, NULL)
),
job_steps AS (
    SELECT
        job,
        count(DISTINCT step) AS step_count,
        round(avg(step_ns))::BIGINT AS mean_ns,
        whole_ns(quantile_cont(step_ns, 0.5)) AS p50_ns
    FROM spans
    GROUP BY job
),
rank_steps AS (
    SELECT job, rank, min(start_ns) AS first_ns, max(start_ns + step_ns) AS last_ns
    FROM spans
    GROUP BY job, rank
),
devices AS (
    SELECT a.job, a.rank, a.device, min(a.start_ns) AS first_ns, max(a.end_ns) AS last_ns
    FROM gpu_activities AS a
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, a.job))
    GROUP BY a.job, a.rank, a.device
),
job_outsides AS (
    SELECT
        d.job,
        sum(greatest(0, d.first_ns - s.first_ns) + greatest(0, s.last_ns - d.last_ns))::BIGINT
            AS outside_ns
    FROM devices AS d
    JOIN rank_steps AS s ON s.job = d.job AND s.rank = d.rank
    GROUP BY d.job
),
job_times AS (
    SELECT
        job,
        sum(span_ns)::BIGINT AS span_ns,
        sum(busy_ns)::BIGINT AS busy_ns,
        sum(compute_ns)::BIGINT AS compute_ns,
        sum(communication_ns)::BIGINT AS communication_ns,
        sum(both_ns)::BIGINT AS both_ns
    FROM rank_times(only_jobs, NULL, NULL)
    GROUP BY job
),
job_waits AS (
    SELECT
        job,
        sum(part_ns) FILTER (cause = 'host_wait') AS host_wait_ns,
        sum(part_ns) FILTER (cause = 'launching') AS launching_ns,
        sum(part_ns) FILTER (cause = 'queued') AS queued_ns,
        sum(part_ns) FILTER (cause = 'kernel_wait') AS kernel_wait_ns,
        sum(part_ns) FILTER (cause = 'unknown') AS unknown_wait_ns
    FROM device_idle(only_jobs, NULL, NULL, 30000)
    GROUP BY job
),
job_findings AS (
    SELECT
        job,
        count(*) AS finding_count,
        min({
            'less_ns': -estimated_gain_ns,
            'rule': rule,
            'title': title,
            'gain_frac': estimated_gain_frac
        }) AS top
    FROM known_findings(only_jobs)
    WHERE severity <> 'info'
    GROUP BY job
),
kernels AS (
    SELECT a.job, a.short_name AS name, sum(a.dur_ns) AS total_ns
    FROM gpu_activities AS a
    WHERE a.kind <> 'memory'
      AND (only_jobs IS NULL OR list_contains(only_jobs, a.job))
    GROUP BY a.job, a.short_name
),
job_kernels AS (
    SELECT
        job,
        min({'less_ns': -total_ns, 'name': name}).name AS top_kernel,
        max(total_ns)::BIGINT AS top_kernel_ns,
        sum(total_ns) AS total_ns
    FROM kernels
    GROUP BY job
),
job_losses AS (
    SELECT
        job,
        CASE WHEN count(lost_ns) = count(*) THEN sum(lost_ns)::BIGINT END AS lost_ns,
        CASE
            WHEN count(lost_ns) = count(*) THEN min({'less_ns': -lost_ns, 'rank': rank}).rank
        END AS worst_rank,
        max(lost_ns) AS worst_ns
    FROM rank_losses(only_jobs)
    GROUP BY job
)
SELECT
    j.job,
    b.started_at,
    j.rank_count,
    j.world_size,
    j.host_count,
    j.device_name,
    coalesce(s.step_count, 0) AS step_count,
    s.mean_ns AS step_mean_ns,
    s.p50_ns AS step_p50_ns,
    coalesce(g.span_ns, 0) AS gpu_span_ns,
    coalesce(o.outside_ns, 0) AS outside_ns,
    coalesce(g.busy_ns, 0) AS busy_ns,
    coalesce(g.compute_ns, 0) AS compute_ns,
    coalesce(g.communication_ns, 0) AS communication_ns,
    coalesce(g.compute_ns + g.communication_ns - g.both_ns, 0) AS overlap_ns,
    coalesce(g.both_ns - g.compute_ns, 0) AS exposed_communication_ns,
    coalesce(g.busy_ns - g.both_ns, 0) AS exposed_memory_ns,
    coalesce(g.span_ns - g.busy_ns, 0) AS idle_ns,
    coalesce(w.host_wait_ns, 0)::BIGINT AS host_wait_ns,
    coalesce(w.launching_ns, 0)::BIGINT AS launching_ns,
    coalesce(w.queued_ns, 0)::BIGINT AS queued_ns,
    coalesce(w.kernel_wait_ns, 0)::BIGINT AS kernel_wait_ns,
    coalesce(w.unknown_wait_ns, 0)::BIGINT AS unknown_wait_ns,
    CASE WHEN l.job IS NULL THEN 0 ELSE l.lost_ns END AS lost_gpu_ns,
    g.busy_ns / nullif(g.span_ns + coalesce(o.outside_ns, 0), 0) AS utilisation_frac,
    g.busy_ns / nullif(g.span_ns, 0) AS busy_frac,
    g.compute_ns / nullif(g.span_ns, 0) AS compute_frac,
    overlap_ns / nullif(g.communication_ns, 0) AS overlap_frac,
    exposed_communication_ns / nullif(g.span_ns, 0) AS exposed_communication_frac,
    idle_ns / nullif(g.span_ns, 0) AS idle_frac,
    lost_gpu_ns / nullif(g.span_ns, 0) AS lost_gpu_frac,
    k.top_kernel,
    k.top_kernel_ns,
    k.top_kernel_ns / nullif(k.total_ns, 0) AS top_kernel_frac,
    CASE WHEN l.worst_ns > 0 THEN l.worst_rank END AS worst_rank,
    CASE WHEN l.worst_ns > 0 THEN m.host END AS worst_rank_host,
    CASE WHEN l.worst_ns > 0 AND l.worst_rank IS NOT NULL THEN l.worst_ns END
        AS worst_rank_lost_ns,
    f.top.title AS top_finding,
    f.top.rule AS top_finding_rule,
    f.top.gain_frac AS top_gain_frac,
    CASE WHEN kf.job IS NOT NULL THEN coalesce(f.finding_count, 0) END AS finding_count
FROM job_traces AS j
JOIN jobs AS b ON b.job = j.job
LEFT JOIN job_steps AS s ON s.job = j.job
LEFT JOIN job_times AS g ON g.job = j.job
LEFT JOIN job_outsides AS o ON o.job = j.job
LEFT JOIN job_waits AS w ON w.job = j.job
LEFT JOIN job_kernels AS k ON k.job = j.job
LEFT JOIN job_losses AS l ON l.job = j.job
LEFT JOIN job_findings AS f ON f.job = j.job
LEFT JOIN jobs_with_known_findings() AS kf ON kf.job = j.job
LEFT JOIN machines(only_jobs) AS m ON m.job = j.job AND m.rank = l.worst_rank
ORDER BY j.job;
