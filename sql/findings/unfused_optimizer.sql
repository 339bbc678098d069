-- The optimizer updates each parameter with kernels of its own, not all parameters at once.
--
-- The kernels are those launched in annotations `Optimizer.step...`, without kernels that handle
-- many tensors (foreach and fused optimizers). Gain: their time and the usual short gap after each,
-- above the time of a fused update. A fused update reads and writes the states once. Adam moves 7
-- tensors per parameter, and its operators move up to 4. So a fused update counts as 7/4 of the
-- bytes of the operator that moves the most per call, at 70 % of the memory's bandwidth. If bytes
-- or bandwidth are not known, it counts as 7/4 of the time of the operator that takes the most per
-- call. Longer idle times between the kernels belong to launch_overhead and host_bound.
--
-- needs: gpu_activities, host_ops
--
-- reads: handles_many_tensors, humane_count, humane_ns, limit_of, memories_of_ranks
CREATE OR REPLACE MACRO find_unfused_optimizer(only_jobs, gpu_work, idle, scopes) AS TABLE
WITH
updates AS (
    SELECT
        w.job,
        w.rank,
        w.op_name,
        sum(w.kernel_count) AS kernel_count,
        sum(w.call_count) AS call_count,
        sum(w.busy_ns) AS busy_ns,
        CASE WHEN bool_and(w.op_bytes IS NOT NULL) THEN sum(w.op_bytes) END AS op_bytes
    FROM query_table(gpu_work) AS w
    WHERE w.claim = 'optimizer'
      AND w.op_name IS NOT NULL
      AND NOT regexp_matches(w.op_name, '::_(foreach|fused)')
      AND NOT handles_many_tensors(w.name)
    GROUP BY w.job, w.rank, w.op_name
),
summed AS (
    SELECT
        job,
        rank,
        sum(kernel_count) AS kernel_count,
        sum(busy_ns) AS busy_ns,
        arg_max(busy_ns, busy_ns / greatest(call_count, 1)) AS op_ns,
        arg_max(op_bytes, op_bytes / greatest(call_count, 1)) AS op_bytes,
        arg_max(op_name, busy_ns) AS op_name
    FROM updates
    GROUP BY job, rank
),
-- The usual gap between kernels that follow each other.
short_gaps AS (
    SELECT job, rank, sum(idle_ns) / sum(gap_count) AS gap_ns
    FROM query_table(idle)
    WHERE rule IS NULL AND cause = 'kernel_wait'
    GROUP BY job, rank
),
totals AS (
    SELECT
        u.job,
        u.rank,
        u.op_name,
        s.per_unit,
        (u.kernel_count / s.unit_count)::BIGINT AS kernel_count,
        (u.busy_ns // s.unit_count)::BIGINT AS busy_ns,
        (u.kernel_count * coalesce(g.gap_ns, 0) / s.unit_count)::BIGINT AS gaps_ns,
        (7 / 4 * coalesce(
            u.op_bytes / (m.memory_gbps * limit_of('far_from_roofline', 'reachable_frac')),
            u.op_ns
        ) / s.unit_count)::BIGINT AS fused_ns
    FROM summed AS u
    JOIN query_table(scopes) AS s ON s.job = u.job AND s.rank = u.rank
    LEFT JOIN short_gaps AS g ON g.job = u.job AND g.rank = u.rank
    LEFT JOIN memories_of_ranks(only_jobs, NULL) AS m ON m.job = u.job AND m.rank = u.rank
)
SELECT
    job,
    rank,
    NULL::VARCHAR AS topic,
    'Optimizer.step' AS subject,
    'The optimizer updates each parameter on its own' AS title,
    format(
        'The optimizer runs {} {}, of {} on average. They take {}, and the short gaps between them '
        || '{}. A fused update would take {}.',
        humane_count(kernel_count, 'kernel', 'kernels'),
        per_unit,
        humane_ns(busy_ns / greatest(kernel_count, 1)),
        humane_ns(busy_ns),
        humane_ns(gaps_ns),
        humane_ns(fused_ns)
    ) AS evidence,
    json_object(
        'kernel_count', kernel_count,
        'kernel_ns', busy_ns,
        'gaps_ns', gaps_ns,
        'fused_ns', fused_ns,
        'operator', op_name
    ) AS numbers,
    greatest(0, busy_ns + gaps_ns - fused_ns) AS gain_ns,
    'exposed time' AS gain_method,
    'medium' AS confidence,
    'Use the fused or foreach version of the optimizer: fused=True or foreach=True in torch.optim.'
        AS advice,
    'annotated_kernels --annotation Optimizer.step' AS see
FROM totals
WHERE kernel_count >= limit_of('unfused_optimizer', 'least_kernels');
