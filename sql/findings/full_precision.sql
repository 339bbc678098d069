-- Matrix products, convolutions or attention in float32 that could use a faster number format.
--
-- The format is tf32 if the device has it and it is at least 1.5 times as fast as float32, else
-- bfloat16 or float16. An operator counts if its operands are float32 and none of its kernels
-- computes them as tf32. Without shapes, the kernel's name decides (is_float32_product).
--
-- Gain: the operator's time above its time in the faster format, as far as it shortens the step
-- (see shared_gpu_time). This time is the longest of: the time divided by the ratio of the two
-- peaks (at most `most_times`, without shapes at most `most_times_unknown`), and the time at 70 %
-- of the roofline in the faster format.
--
-- needs: gpu_activities, device name
--
-- reads: finding_thresholds, humane_count, humane_frac, humane_ns
CREATE OR REPLACE MACRO find_full_precision(gpu_work, op_shapes, device_rates, scopes) AS TABLE
WITH
limits AS (
    SELECT
        max(value) FILTER (name = 'most_times') AS most_times,
        max(value) FILTER (name = 'most_times_unknown') AS most_times_unknown,
        max(value) FILTER (name = 'reachable_frac') AS reachable_frac
    FROM finding_thresholds
    WHERE rule IN ('full_precision', 'far_from_roofline')
),
formats AS (
    SELECT
        job,
        rank,
        memory_gbps,
        dense_tflops['float32'] AS slow_tflops,
        coalesce(dense_tflops['tf32'] >= 1.5 * slow_tflops, false) AS has_tf32,
        CASE
            WHEN has_tf32 THEN dense_tflops['tf32']
            ELSE greatest(dense_tflops['bfloat16'], dense_tflops['float16'])
        END AS fast_tflops
    FROM query_table(device_rates)
),
work AS (
    SELECT
        w.job,
        w.rank,
        coalesce(s.name, w.op_name, w.short_name) AS op_name,
        arg_max(w.short_name, w.busy_ns) AS kernel,
        s.shape_number IS NOT NULL AS has_shape,
        s.flops,
        s.bytes,
        sum(w.kernel_count) AS kernel_count,
        sum(w.call_count) AS call_count,
        sum(w.busy_ns) AS busy_ns,
        sum(w.gaining_ns) AS gaining_ns,
        any_value(w.computation_ns) AS computation_ns
    FROM query_table(gpu_work) AS w
    LEFT JOIN query_table(op_shapes) AS s ON s.shape_number = w.shape_number
    WHERE w.claim = 'full_precision'
    GROUP BY w.job, w.rank, coalesce(s.name, w.op_name, w.short_name), s.shape_number, s.flops,
        s.bytes
),
shortened AS MATERIALIZED (
    SELECT
        w.*,
        f.has_tf32,
        f.fast_tflops / f.slow_tflops AS times,
        greatest(
            w.busy_ns / least(
                f.fast_tflops / f.slow_tflops,
                CASE
                    WHEN w.has_shape THEN l.most_times
                    ELSE l.most_times_unknown
                END
            ),
            w.call_count * greatest(w.flops / (1e3 * f.fast_tflops), w.bytes / f.memory_gbps)
            / l.reachable_frac
        ) AS fast_ns
    FROM work AS w
    CROSS JOIN limits AS l
    JOIN formats AS f ON f.job = w.job AND f.rank = w.rank
    WHERE f.fast_tflops >= 1.5 * f.slow_tflops
),
by_op AS (
    SELECT job, rank, max({'ns': ns, 'name': op_name, 'kernel': kernel}) AS op
    FROM (
        SELECT
            job, rank, op_name, sum(busy_ns) AS ns, arg_max(kernel, busy_ns) AS kernel
        FROM shortened
        GROUP BY job, rank, op_name
    )
    GROUP BY job, rank
),
totals AS (
    SELECT
        w.job,
        w.rank,
        s.per_unit,
        b.op,
        w.has_tf32,
        w.times,
        (sum(w.kernel_count) / s.unit_count)::BIGINT AS kernel_count,
        (sum(w.busy_ns) // s.unit_count)::BIGINT AS busy_ns,
        sum(w.busy_ns) / w.computation_ns AS busy_frac,
        (sum(greatest(0, w.busy_ns - w.fast_ns) * w.gaining_ns / w.busy_ns) / s.unit_count)::BIGINT
            AS gain_ns,
        bool_and(w.has_shape) AS has_shapes
    FROM shortened AS w
    JOIN by_op AS b ON b.job = w.job AND b.rank = w.rank
    JOIN query_table(scopes) AS s ON s.job = w.job AND s.rank = w.rank
    WHERE w.busy_ns > 0
    GROUP BY w.job, w.rank, s.per_unit, s.unit_count, b.op, w.has_tf32, w.times,
        w.computation_ns
)
SELECT
    job,
    rank,
    NULL::VARCHAR AS topic,
    op.name AS subject,
    op.name || ' computes in float32' AS title,
    format(
        '{} of matrix products, convolutions and attention compute in float32, most of the time '
        || '{}. They take {} {}, {} of all kernel time. The peak of {} is {:.1f} times as high.',
        humane_count(kernel_count, 'kernel', 'kernels'),
        op.kernel,
        humane_ns(busy_ns),
        per_unit,
        humane_frac(busy_frac),
        CASE WHEN has_tf32 THEN 'TF32' ELSE 'the 16-bit formats' END,
        times
    ) AS evidence,
    json_object(
        'kernel_count', kernel_count,
        'kernel_ns', busy_ns,
        'kernel_frac', busy_frac,
        'peak_ratio', times,
        'kernel', op.kernel
    ) AS numbers,
    gain_ns,
    'exposed time' AS gain_method,
    CASE WHEN has_shapes THEN 'medium' ELSE 'low' END AS confidence,
    CASE
        WHEN has_tf32
        THEN 'Allow TF32 (torch.set_float32_matmul_precision("high"), '
            || 'torch.backends.cudnn.allow_tf32 = True), or use bfloat16 with torch.autocast.'
        ELSE 'Use a 16-bit format with torch.autocast.'
    END AS advice,
    'op_flops' AS see
FROM totals;
