-- The jobs with the most GPU time without computation, and the main reason.
--
-- The GPU time of a job is its gpu_span_ns and outside_ns, as in job_summary. So it counts that a
-- GPU waits before its first activity or after its last, while the host is in a step. The query
-- splits the GPU time without computation into the times of nine reasons:
--
--     straggler      exposed waiting for ranks that came late to a collective
--                    or message, as in lost_gpu_time
--     communication  the rest of exposed communication
--     memory         exposed copies and memsets
--     host_wait      idle while the host has launched nothing, for example
--                    because of data loading, Python or a synchronisation
--     launching      idle until a launch returns
--     queued         idle for 30 us or more, from the return of a launch to
--                    the start of its activity
--     kernel_wait    the same, for less than 30 us
--     unknown_wait   idle before an activity without a known launch
--     outside        step time before the first activity of a GPU or after
--                    its last
--
-- The nine times add up to without_compute_ns. `reason` is the reason with the most time. With
-- equal times, the first reason in the list counts.
--
-- straggler_ns is at most the exposed communication. lost_gpu_time can count more, for example if a
-- rank waits on several streams at the same time. If a job's lost GPU time is not known,
-- straggler_ns is 0, and all exposed communication counts as communication.
--
-- outside_ns is NULL if an earlier hta_sql stored the job's results, without this time. It then
-- counts as 0, and utilisation_frac and compute_frac are at most what they say. `hta-sql
-- materialize --force` computes the results again.
--
-- Jobs without GPU activities are left out. The query reads what `hta-sql materialize` has stored.
-- Jobs without stored results are left out, with a warning.
--
-- since: 0.1
-- grain: job
-- needs: stored_results
-- returns:
--   job                 VARCHAR    -      run of a program
--   position            BIGINT     -      1 for the most GPU time without computation; with equal
--                                         times, the first name comes first
--   started_at          TIMESTAMP  -      when the job began, UTC; NULL if not known
--   rank_count          BIGINT     count  ranks with a trace
--   device_name         VARCHAR    -      name of the GPU; several joined by commas
--   gpu_time_ns         BIGINT     ns     GPU time that was traced, as above
--   without_compute_ns  BIGINT     ns     GPU time without computation
--   utilisation_frac    DOUBLE     0-1    share of gpu_time_ns with any activity
--   compute_frac        DOUBLE     0-1    share of gpu_time_ns with computation
--   reason              VARCHAR    -      reason with the most time; NULL if without_compute_ns is
--                                         0
--   reason_ns           BIGINT     ns     time of `reason`
--   reason_frac         DOUBLE     0-1    reason_ns / without_compute_ns
--   straggler_ns        BIGINT     ns     exposed waiting for late ranks
--   communication_ns    BIGINT     ns     rest of exposed communication
--   memory_ns           BIGINT     ns     exposed copies and memsets
--   host_wait_ns        BIGINT     ns     idle while nothing is launched
--   launching_ns        BIGINT     ns     idle until a launch returns
--   queued_ns           BIGINT     ns     idle after a launch, for 30 us or more
--   kernel_wait_ns      BIGINT     ns     idle after a launch, for less than 30 us
--   unknown_wait_ns     BIGINT     ns     idle before an activity without a known launch
--   outside_ns          BIGINT     ns     step time before a GPU's first activity or after its
--                                         last; NULL: not known, as above
--   top_finding         VARCHAR    -      title of the finding with the largest gain
--   top_kernel          VARCHAR    -      kernel with the longest total time
--   worst_rank          INTEGER    -      rank that cost the other ranks the most GPU time
--   worst_rank_host     VARCHAR    -      machine of worst_rank; NULL if the trace does not name it
-- check: without_compute_ns BETWEEN 0 AND gpu_time_ns
-- check: straggler_ns + communication_ns + memory_ns + host_wait_ns + launching_ns + queued_ns
--   + kernel_wait_ns + unknown_wait_ns + coalesce(outside_ns, 0) = without_compute_ns
-- check: reason_ns = greatest(straggler_ns, communication_ns, memory_ns, host_wait_ns,
--   launching_ns, queued_ns, kernel_wait_ns, unknown_wait_ns, outside_ns)
-- check: least(straggler_ns, communication_ns, memory_ns, host_wait_ns) >= 0
-- check: (reason IS NULL) = (without_compute_ns = 0)
-- check: position > 0
-- reads: jobs, stored_job_summary
CREATE OR REPLACE MACRO low_utilisation_jobs_v3(
    only_jobs VARCHAR[] := NULL,  -- jobs to look at [default: all]
    top_k INTEGER := 20,  -- maximum number of jobs to show
    below DOUBLE := 0.8  -- only jobs whose compute_frac is below this
) AS TABLE
WITH
picked AS (
    SELECT
        s.* EXCLUDE (started_at),
        -- From `jobs`, since a tag may be newer than the stored results.
        j.started_at,
        s.gpu_span_ns + coalesce(s.outside_ns, 0) AS gpu_time_ns,
        gpu_time_ns - s.compute_ns AS without_compute_ns,
        least(coalesce(s.lost_gpu_ns, 0), s.exposed_communication_ns) AS straggler_ns
    FROM stored_job_summary AS s
    INNER JOIN jobs AS j ON j.job = s.job
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, s.job))
      AND gpu_time_ns > 0
      AND s.compute_ns / gpu_time_ns < below
),
reasoned AS (
    SELECT
        *,
        exposed_communication_ns - straggler_ns AS other_communication_ns,
        list_max([
            {'time_ns': straggler_ns, 'turn': 9, 'reason': 'straggler'},
            {'time_ns': other_communication_ns, 'turn': 8, 'reason': 'communication'},
            {'time_ns': exposed_memory_ns, 'turn': 7, 'reason': 'memory'},
            {'time_ns': host_wait_ns, 'turn': 6, 'reason': 'host_wait'},
            {'time_ns': launching_ns, 'turn': 5, 'reason': 'launching'},
            {'time_ns': queued_ns, 'turn': 4, 'reason': 'queued'},
            {'time_ns': kernel_wait_ns, 'turn': 3, 'reason': 'kernel_wait'},
            {'time_ns': unknown_wait_ns, 'turn': 2, 'reason': 'unknown_wait'},
            {'time_ns': coalesce(outside_ns, 0), 'turn': 1, 'reason': 'outside'}
        ]) AS most
    FROM picked
),
placed AS (
    SELECT *, row_number() OVER (ORDER BY without_compute_ns DESC, job) AS position
    FROM reasoned
)
SELECT
    job,
    position,
    started_at,
    rank_count,
    device_name,
    gpu_time_ns,
    without_compute_ns,
    busy_ns / gpu_time_ns AS utilisation_frac,
    compute_ns / gpu_time_ns AS compute_frac,
    CASE WHEN without_compute_ns > 0 THEN most.reason END AS reason,
    most.time_ns AS reason_ns,
    most.time_ns / nullif(without_compute_ns, 0) AS reason_frac,
    straggler_ns,
    other_communication_ns AS communication_ns,
    exposed_memory_ns AS memory_ns,
    host_wait_ns,
    launching_ns,
    queued_ns,
    kernel_wait_ns,
    unknown_wait_ns,
    outside_ns,
    top_finding,
    top_kernel,
    worst_rank,
    worst_rank_host
FROM placed
WHERE top_k IS NULL OR position <= top_k
ORDER BY position;
