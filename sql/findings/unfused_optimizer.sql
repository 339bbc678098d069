-- The optimizer updates each parameter with kernels of its own, not all parameters at once.
--
-- The kernels are those launched in annotations `Optimizer.step...`, without kernels that handle
-- many tensors (foreach and fused optimizers). Gain: their time, and the short gaps just before
-- them, above the time of a fused update, as far as the step gets shorter without them (removing_ns
-- of shared_gpu_work). Longer idle time between them belongs to launch_overhead and host_bound.
--
-- A fused update reads and writes each state once. It counts as twice the bytes of the operator
-- that moves the most per parameter, at `memory_frac` of the memory's bandwidth. If shapes or
-- the device are not known, it counts as twice the time of the operator with the most time.
--
-- needs: gpu_activities, host_ops
--
-- reads: handles_many_tensors, humane_count, humane_ns, limit_of
CREATE OR REPLACE MACRO find_unfused_optimizer(gpu_work, op_shapes, device_rates, scopes) AS TABLE
WITH
updates AS MATERIALIZED (
    SELECT
        w.job,
        w.rank,
        w.shape_number,
        w.op_name,
        sum(w.kernel_count) AS kernel_count,
        sum(w.busy_ns) AS busy_ns,
        sum(w.removing_ns) AS removing_ns,
        sum(w.between_ns) AS between_ns
    FROM query_table(gpu_work) AS w
    WHERE w.claim = 'optimizer'
      AND w.op_name IS NOT NULL
      AND NOT regexp_matches(w.op_name, '::_(foreach|fused)')
      AND NOT handles_many_tensors(w.name)
    GROUP BY w.job, w.rank, w.shape_number, w.op_name
),
-- The parameters of one size: as many as the calls of the operator that has the fewest.
sizes AS (
    SELECT u.job, u.rank, min(u.kernel_count) * max(s.bytes) AS bytes
    FROM updates AS u
    JOIN query_table(op_shapes) AS s ON s.shape_number = u.shape_number
    WHERE s.element_count > 1
    GROUP BY u.job, u.rank, s.element_count
),
moved AS (
    SELECT job, rank, sum(bytes) AS bytes
    FROM sizes
    GROUP BY job, rank
),
summed AS (
    SELECT
        job,
        rank,
        sum(kernel_count) AS kernel_count,
        sum(busy_ns) AS busy_ns,
        sum(removing_ns) AS removing_ns,
        sum(between_ns) AS between_ns,
        max(busy_ns) AS op_ns,
        arg_max(op_name, busy_ns) AS op_name
    FROM updates
    GROUP BY job, rank
),
totals AS (
    SELECT
        u.job,
        u.rank,
        u.op_name,
        s.per_unit,
        u.removing_ns / u.busy_ns AS removing_frac,
        (u.kernel_count / s.unit_count)::BIGINT AS kernel_count,
        (u.busy_ns // s.unit_count)::BIGINT AS busy_ns,
        (u.between_ns // s.unit_count)::BIGINT AS between_ns,
        (2 * coalesce(
            m.bytes / (r.memory_gbps * limit_of('unfused_optimizer', 'memory_frac')),
            u.op_ns
        ) / s.unit_count)::BIGINT AS fused_ns
    FROM summed AS u
    JOIN query_table(scopes) AS s ON s.job = u.job AND s.rank = u.rank
    JOIN query_table(device_rates) AS r ON r.job = u.job AND r.rank = u.rank
    LEFT JOIN moved AS m ON m.job = u.job AND m.rank = u.rank
)
SELECT
    job,
    rank,
    NULL::VARCHAR AS topic,
    'Optimizer.step' AS subject,
    'The optimizer updates each parameter on its own' AS title,
    format(
        'The optimizer runs {} {}, of {} on average. They take {}, and {} pass '
        || 'between them. A fused update would take {}.',
        humane_count(kernel_count, 'kernel', 'kernels'),
        per_unit,
        humane_ns(busy_ns / greatest(kernel_count, 1)),
        humane_ns(busy_ns),
        humane_ns(between_ns),
        humane_ns(fused_ns)
    ) AS evidence,
    json_object(
        'kernel_count', kernel_count,
        'kernel_ns', busy_ns,
        'between_ns', between_ns,
        'fused_ns', fused_ns,
        'operator', op_name
    ) AS numbers,
    (greatest(0, busy_ns + between_ns - fused_ns) * removing_frac)::BIGINT AS gain_ns,
    'exposed time' AS gain_method,
    'medium' AS confidence,
    'Use the fused or foreach version of the optimizer: fused=True or foreach=True in torch.optim.'
        AS advice,
    'annotated_kernels --annotation Optimizer.step' AS see
FROM totals
WHERE kernel_count >= limit_of('unfused_optimizer', 'least_kernels');
