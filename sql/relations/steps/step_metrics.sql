-- One row per side, step and metric: side, step, name and value_ns, the mean over the ranks.
--
-- A side is one half of a comparison: base or test.
--
-- `sampled`: rows of compared_steps.
-- `jobs`: list of the jobs in `sampled`.
--
-- The help of step_diff explains the names of the metrics. kernel_sum is the sum of the activities'
-- durations. A rank without activities in the step counts with 0 in all metrics of activities.
--
-- If a side has no steps, step is NULL, the metrics are of the whole traces, and step_time has no
-- row.
--
-- reads: busy_times, gpu_activities
CREATE OR REPLACE MACRO step_metrics(sampled, jobs) AS TABLE
WITH
activities AS (
    SELECT a.job, a.rank, a.device, coalesce(a.step, -1) AS step, a.kind, a.start_ns, a.end_ns
    FROM gpu_activities AS a
    WHERE list_contains(jobs, a.job)
),
kernel_sums AS (
    SELECT job, rank, step, sum(end_ns - start_ns)::BIGINT AS kernel_sum
    FROM activities
    GROUP BY job, rank, step
),
of_ranks AS (
    SELECT
        job,
        rank,
        step,
        sum(span_ns)::BIGINT AS gpu_span,
        sum(busy_ns)::BIGINT AS gpu_busy,
        sum(span_ns - busy_ns)::BIGINT AS idle,
        sum(computation_ns)::BIGINT AS compute,
        sum(communication_ns)::BIGINT AS communication,
        sum(memory_ns)::BIGINT AS memory,
        sum(computation_or_communication_ns - computation_ns)::BIGINT AS exposed_communication,
        sum(busy_ns - computation_or_communication_ns)::BIGINT AS exposed_memory
    FROM busy_times(activities)
    GROUP BY job, rank, step
),
of_steps AS (
    SELECT
        s.side,
        s.step,
        round(avg(s.step_ns))::BIGINT AS step_time,
        round(avg(coalesce(g.gpu_span, 0)))::BIGINT AS gpu_span,
        round(avg(coalesce(g.gpu_busy, 0)))::BIGINT AS gpu_busy,
        round(avg(coalesce(g.idle, 0)))::BIGINT AS idle,
        round(avg(coalesce(g.compute, 0)))::BIGINT AS compute,
        round(avg(coalesce(g.communication, 0)))::BIGINT AS communication,
        round(avg(coalesce(g.memory, 0)))::BIGINT AS memory,
        round(avg(coalesce(g.exposed_communication, 0)))::BIGINT AS exposed_communication,
        round(avg(coalesce(g.exposed_memory, 0)))::BIGINT AS exposed_memory,
        round(avg(coalesce(k.kernel_sum, 0)))::BIGINT AS kernel_sum
    FROM query_table(sampled) AS s
    LEFT JOIN of_ranks AS g
        ON g.job = s.job AND g.rank = s.rank AND g.step = coalesce(s.step, -1)
    LEFT JOIN kernel_sums AS k
        ON k.job = s.job AND k.rank = s.rank AND k.step = coalesce(s.step, -1)
    GROUP BY s.side, s.step
)
UNPIVOT of_steps
ON step_time, gpu_span, gpu_busy, idle, compute, communication, memory, exposed_communication,
    exposed_memory, kernel_sum
INTO NAME name VALUE value_ns;
