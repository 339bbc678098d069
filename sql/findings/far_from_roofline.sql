-- Operators and shapes that take much GPU time and stay far below the roofline.
--
-- An operator is far below if it reaches less than `most_frac` of what its operations and bytes
-- allow (see op_flops). Operators whose kernels take less than `least_call_ns` per call are left
-- out, since the start and end of kernels bound them. For matrix products with few rows this is
-- `least_few_ns`, since joining such calls also saves starts and ends. Time that belongs to
-- full_precision, unfused_elementwise, unfused_optimizer and layout_copies is left out, too.
--
-- Gain: the time above the time at `reachable_frac` of the roofline, as far as it shortens the step
-- (see shared_gpu_time). If the shape gives no reason, another fraction counts: the best that an
-- operator of the same family, format and bound reaches on the rank, but at most `reachable_frac`.
-- If none is better than `most_frac`, it is `unexplained_frac`.
--
-- needs: gpu_activities, input shapes, device name
--
-- reads: finding_thresholds, format_on_device, humane_frac, humane_ns, shape_traits
CREATE OR REPLACE MACRO find_far_from_roofline(gpu_work, op_shapes, device_rates, scopes) AS TABLE
WITH
limits AS (
    SELECT
        max(value) FILTER (name = 'few_blocks') AS few_blocks,
        max(value) FILTER (name = 'least_call_ns') AS least_call_ns,
        max(value) FILTER (name = 'least_few_ns') AS least_few_ns,
        max(value) FILTER (name = 'most_frac') AS most_frac,
        max(value) FILTER (name = 'most_rows') AS most_rows,
        max(value) FILTER (name = 'reachable_frac') AS reachable_frac,
        max(value) FILTER (name = 'unexplained_frac') AS unexplained_frac
    FROM finding_thresholds
    WHERE rule = 'far_from_roofline'
),
work AS (
    SELECT
        w.job,
        w.rank,
        w.shape_number,
        sum(w.call_count) AS call_count,
        sum(w.busy_ns) FILTER (w.claim = 'roofline') AS busy_ns,
        sum(w.gaining_ns) FILTER (w.claim = 'roofline') AS gaining_ns,
        sum(w.busy_ns) FILTER (w.claim = 'layout') AS layout_ns,
        arg_max(w.short_name, w.busy_ns) FILTER (w.claim = 'roofline') AS kernel,
        arg_max(w.blocks_per_sm, w.busy_ns) FILTER (w.claim = 'roofline') AS blocks_per_sm
    FROM query_table(gpu_work) AS w
    WHERE w.shape_number IS NOT NULL
    GROUP BY w.job, w.rank, w.shape_number
),
limited AS (
    SELECT
        w.*,
        s.name,
        s.family,
        s.input_dims,
        s.dtype,
        s.flops,
        w.call_count * s.bytes / r.memory_gbps AS memory_ns,
        -- Products in float32 that are not tf32 belong to full_precision.
        w.call_count * s.flops
        / (1e3 * r.dense_tflops[format_on_device(s.dtype, true)]) AS compute_ns
    FROM work AS w
    JOIN query_table(op_shapes) AS s ON s.shape_number = w.shape_number
    JOIN query_table(device_rates) AS r ON r.job = w.job AND r.rank = w.rank
    WHERE w.busy_ns > 0
      AND s.bytes > 0
      AND r.memory_gbps > 0
      -- As in op_flops, the bytes of experts with unknown weights are by far too few.
      AND NOT (s.family = 'mixture of experts' AND s.is_estimated AND s.flops IS NULL)
),
described AS (
    SELECT
        l.*,
        coalesce(t.label, l.input_dims) AS label,
        coalesce(t.is_few, false) AS is_few,
        list_filter(
            list_concat(
                t.traits,
                [
                    CASE
                        WHEN l.blocks_per_sm < limits.few_blocks
                        THEN format(
                            'its tiles are too few: {:.1f} blocks per multiprocessor',
                            l.blocks_per_sm
                        )
                    END,
                    CASE
                        WHEN l.layout_ns >= 0.2 * l.busy_ns
                        THEN 'layout conversions around it take ' || humane_frac(
                            l.layout_ns / (l.busy_ns + l.layout_ns)
                        ) || ' of its time'
                    END
                ]
            ),
            lambda trait: trait IS NOT NULL
        ) AS traits
    FROM limited AS l
    CROSS JOIN limits
    LEFT JOIN shape_traits(op_shapes) AS t ON t.shape_number = l.shape_number
    WHERE l.flops IS NULL OR l.compute_ns IS NOT NULL
),
grouped AS (
    SELECT
        job,
        rank,
        name,
        family,
        dtype,
        label,
        coalesce(compute_ns > memory_ns, false) AS is_compute_bound,
        bool_and(is_few) AS is_few,
        arg_max(traits, busy_ns) AS traits,
        arg_max(kernel, busy_ns) AS kernel,
        count(*) AS shape_count,
        sum(call_count) AS call_count,
        sum(busy_ns) AS busy_ns,
        sum(gaining_ns) AS gaining_ns,
        sum(greatest(memory_ns, compute_ns)) / sum(busy_ns) AS roof_frac
    FROM described
    GROUP BY job, rank, name, family, dtype, label,
        coalesce(compute_ns > memory_ns, false)
),
compared AS (
    SELECT
        g.*,
        limits.most_frac,
        limits.most_rows,
        least(
            CASE
                WHEN len(g.traits) = 0
                THEN coalesce(
                    max(g.roof_frac) FILTER (g.roof_frac > limits.most_frac)
                        OVER (PARTITION BY g.job, g.rank, g.family, g.dtype, g.is_compute_bound),
                    limits.unexplained_frac
                )
            END,
            limits.reachable_frac
        ) AS target_frac
    FROM grouped AS g
    CROSS JOIN limits
    WHERE g.busy_ns / g.call_count
        >= CASE WHEN g.is_few THEN limits.least_few_ns ELSE limits.least_call_ns END
),
totals AS (
    SELECT
        c.*,
        s.per_unit,
        c.call_count / s.unit_count AS calls_per_unit,
        (c.busy_ns // s.unit_count)::BIGINT AS kernel_ns,
        (c.gaining_ns * (1 - c.roof_frac / c.target_frac) / s.unit_count)::BIGINT AS gain_ns
    FROM compared AS c
    JOIN query_table(scopes) AS s ON s.job = c.job AND s.rank = c.rank
    WHERE c.roof_frac < c.most_frac
    QUALIFY row_number() OVER (PARTITION BY c.job, c.rank ORDER BY gain_ns DESC, c.name, c.label)
        <= c.most_rows
)
SELECT
    job,
    rank,
    name || ' ' || label AS topic,
    name || ' (' || label || ')' AS subject,
    format(
        '{} reaches {} of the roofline{}',
        name,
        humane_frac(roof_frac),
        CASE WHEN len(traits) > 0 THEN ': ' || traits[1] ELSE '' END
    ) AS title,
    format(
        '{} with {} takes {} {} in {}, and reaches {} of what its operations and bytes '
        || 'allow.{}',
        name,
        label,
        humane_ns(kernel_ns),
        per_unit,
        CASE
            WHEN calls_per_unit = 1 THEN '1 call'
            ELSE format('{:g} calls', round(calls_per_unit, 1))
        END,
        humane_frac(roof_frac),
        CASE
            WHEN len(traits) > 0
            THEN ' Reasons that the shape gives: ' || array_to_string(traits, '; ') || '.'
            ELSE ' The shape gives no reason.'
        END
    ) AS evidence,
    json_object(
        'kernel_ns', kernel_ns,
        'roofline_frac', roof_frac,
        'reachable_frac', target_frac,
        'call_count', calls_per_unit,
        'shape_count', shape_count,
        'reasons', traits,
        'kernel', kernel
    ) AS numbers,
    gain_ns,
    'exposed time' AS gain_method,
    CASE WHEN len(traits) > 0 THEN 'medium' ELSE 'low' END AS confidence,
    CASE
        WHEN len(traits) = 0
        THEN 'Compare the kernel with those of other library versions, and check the clock of the '
            || 'GPU.'
        WHEN family LIKE 'attention%'
        THEN 'Batch more sequences per call, and use a head size of 64 or 128.'
        WHEN family LIKE 'convolution%'
        THEN 'Use channels_last and channel counts that are multiples of 8, and fewer groups.'
        WHEN family = 'matrix product'
        THEN 'Pad sizes to multiples of 8 or 16, and give each call more rows: a larger batch, or '
            || 'several products at once.'
        ELSE 'Give each call more elements, or fuse it with its neighbours.'
    END AS advice,
    'op_flops' AS see
FROM totals
WHERE gain_ns > 0;
