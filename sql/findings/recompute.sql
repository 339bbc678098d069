-- Activation checkpointing: the backward pass repeats parts of the forward pass.
--
-- A kernel is repeated if its operator also runs in the forward pass with the same shape, and if
-- one of these holds (phase of shared_gpu_time):
--
--   * The operator is in a backward pass, and records an autograd node of its own.
--   * The launch is in a Python function of the checkpoint that repeats the forward pass.
--
-- Gain: the time of these kernels, as far as the step gets shorter without them (removing_ns of
-- shared_gpu_work). Gains of other rules count the repeated kernels, too.
--
-- needs: gpu_activities, host_ops
--
-- reads: humane_count, humane_frac, humane_ns
CREATE OR REPLACE MACRO find_recompute(gpu_work, scopes) AS TABLE
WITH
repeated AS MATERIALIZED (
    SELECT w.job, w.rank, w.op_name, w.kernel_count, w.busy_ns, w.removing_ns, w.computation_ns
    FROM query_table(gpu_work) AS w
    SEMI JOIN query_table(gpu_work) AS f
        ON f.job = w.job
        AND f.rank = w.rank
        AND f.phase = 'forward'
        AND f.op_name = w.op_name
        AND f.shape_number IS NOT DISTINCT FROM w.shape_number
    WHERE w.phase = 'rerun'
),
by_op AS (
    SELECT job, rank, op_name, sum(busy_ns) AS busy_ns
    FROM repeated
    GROUP BY job, rank, op_name
),
top_op AS (
    SELECT job, rank, max({'ns': busy_ns, 'name': op_name}) AS op
    FROM by_op
    GROUP BY job, rank
),
summed AS (
    SELECT
        job,
        rank,
        sum(kernel_count) AS kernel_count,
        sum(busy_ns) AS busy_ns,
        sum(removing_ns) AS removing_ns,
        any_value(computation_ns) AS computation_ns
    FROM repeated
    GROUP BY job, rank
),
totals AS (
    SELECT
        r.job,
        r.rank,
        (r.kernel_count / s.unit_count)::BIGINT AS kernel_count,
        (r.busy_ns // s.unit_count)::BIGINT AS busy_ns,
        (r.removing_ns // s.unit_count)::BIGINT AS removing_ns,
        r.busy_ns / r.computation_ns AS busy_frac,
        t.op.name AS op_name,
        (t.op.ns // s.unit_count)::BIGINT AS op_ns,
        s.per_unit
    FROM summed AS r
    JOIN query_table(scopes) AS s ON s.job = r.job AND s.rank = r.rank
    JOIN top_op AS t ON t.job = r.job AND t.rank = r.rank
)
SELECT
    job,
    rank,
    NULL::VARCHAR AS topic,
    'activation checkpointing' AS subject,
    'Activation checkpointing repeats ' || humane_frac(busy_frac) || ' of the kernel time' AS title,
    format(
        'The backward pass repeats {} of the forward pass, which take {} {}, {} of it in {}.',
        humane_count(kernel_count, 'kernel', 'kernels'),
        humane_ns(busy_ns),
        per_unit,
        humane_ns(op_ns),
        op_name
    ) AS evidence,
    json_object(
        'kernel_count', kernel_count,
        'repeated_ns', busy_ns,
        'repeated_frac', busy_frac,
        'operator', op_name,
        'operator_ns', op_ns
    ) AS numbers,
    removing_ns AS gain_ns,
    'exposed time' AS gain_method,
    'medium' AS confidence,
    'If memory allows, keep more activations: checkpoint fewer layers, or only the operators that '
    || 'are cheap to repeat (selective checkpointing).' AS advice,
    'op_stats' AS see
FROM totals;
