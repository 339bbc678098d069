-- Pointwise operators that run directly after one another on tensors of the same size.
--
-- Each of them reads its operands from memory and writes its result back. A fused kernel keeps the
-- results between them in registers.
--
--     stream  [ mul ][ add ][ gelu ][ matrix product ]
--     memory   r   w  r   w  r    w
--     fused    r                  w
--
-- A result counts as saved twice: the write, and the read by the next operator. Gain: the time that
-- these bytes take at the bandwidth that the kernels reach, as far as the step gets shorter without
-- them (removing_ns of shared_gpu_work). Equal operators after one another are no chain, since they
-- can belong to different tensors.
--
-- needs: gpu_activities, input shapes
--
-- reads: humane_bytes, humane_count, humane_ns
CREATE OR REPLACE MACRO find_unfused_elementwise(gpu_work, scopes) AS TABLE
WITH
chained AS MATERIALIZED (
    SELECT
        w.*,
        w.removing_ns * least(1, w.joined_bytes / nullif(w.op_bytes, 0)) AS saved_ns
    FROM query_table(gpu_work) AS w
    WHERE w.claim = 'pointwise'
),
by_op AS (
    SELECT job, rank, op_name, sum(saved_ns) AS saved_ns
    FROM chained
    GROUP BY job, rank, op_name
),
top_ops AS (
    SELECT
        job,
        rank,
        list_transform(max({'ns': saved_ns, 'name': op_name}, 4), lambda o: o.name) AS op_names
    FROM by_op
    GROUP BY job, rank
),
totals AS (
    SELECT
        c.job,
        c.rank,
        array_to_string(t.op_names, ', ') AS op_names,
        s.per_unit,
        (sum(c.kernel_count) / s.unit_count)::BIGINT AS kernel_count,
        (sum(c.kernel_count) FILTER (c.is_chain_start) / s.unit_count)::BIGINT AS chain_count,
        (sum(c.busy_ns) // s.unit_count)::BIGINT AS busy_ns,
        (sum(c.op_bytes) // s.unit_count)::BIGINT AS op_bytes,
        (sum(c.joined_bytes) // s.unit_count)::BIGINT AS joined_bytes,
        (sum(c.saved_ns) / s.unit_count)::BIGINT AS saved_ns
    FROM chained AS c
    JOIN top_ops AS t ON t.job = c.job AND t.rank = c.rank
    JOIN query_table(scopes) AS s ON s.job = c.job AND s.rank = c.rank
    GROUP BY c.job, c.rank, t.op_names, s.per_unit, s.unit_count
)
SELECT
    job,
    rank,
    NULL::VARCHAR AS topic,
    op_names AS subject,
    'Pointwise operators are not fused, most of all ' || op_names AS title,
    format(
        '{} in {} run directly after one another on tensors of the same size, and take {} {}. '
        || 'They move {}; fusing them saves {} of it.',
        humane_count(kernel_count, 'pointwise kernel', 'pointwise kernels'),
        humane_count(chain_count, 'chain', 'chains'),
        humane_ns(busy_ns),
        per_unit,
        humane_bytes(op_bytes),
        humane_bytes(joined_bytes)
    ) AS evidence,
    json_object(
        'operators', op_names,
        'kernel_count', kernel_count,
        'chain_count', chain_count,
        'kernel_ns', busy_ns,
        'bytes', op_bytes,
        'saved_bytes', joined_bytes
    ) AS numbers,
    saved_ns AS gain_ns,
    'exposed time' AS gain_method,
    'medium' AS confidence,
    'Fuse these operators: use torch.compile, or a fused operator of a library.' AS advice,
    'op_flops' AS see
FROM totals;
