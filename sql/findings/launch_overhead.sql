-- Activities that are shorter than their own launch calls, so that the GPU is idle after them.
--
-- Gain: short gaps (up to `longest_gap_ns`) after such activities, while the next launch has not
-- returned.
--
-- needs: gpu_activities, launches
--
-- reads: host_ops, humane_ns
CREATE OR REPLACE MACRO find_launch_overhead(only_jobs, idle_totals, idle, scopes) AS TABLE
WITH
by_op AS (
    SELECT
        i.job,
        i.rank,
        i.device,
        h.name,
        sum(i.idle_ns) AS idle_ns,
        sum(i.gap_count) AS gap_count
    FROM query_table(idle) AS i
    LEFT JOIN host_ops AS h ON h.job = i.job AND h.rank = i.rank AND h.event_id = i.op_id
    WHERE i.rule = 'launch_overhead'
      AND (only_jobs IS NULL OR list_contains(only_jobs, h.job) OR h.job IS NULL)
    GROUP BY i.job, i.rank, i.device, h.name
),
top_op AS (
    SELECT job, rank, device, max({'ns': idle_ns, 'name': name, 'count': gap_count}) AS op
    FROM by_op
    GROUP BY job, rank, device
)
SELECT
    t.job,
    t.rank,
    NULL::VARCHAR AS topic,
    coalesce(o.op.name, t.host_name, 'kernels') AS subject,
    'Kernels are shorter than their launches'
        || coalesce(', most of all in ' || o.op.name, '') AS title,
    format(
        'The GPU is idle for {} {} in {:g} short gaps after kernels that take less time than their '
        || 'own launch calls{}.',
        humane_ns(t.idle_ns),
        t.per_unit,
        t.gap_count,
        coalesce(
            format(
                '; {} of it follows kernels of {}',
                humane_ns((o.op.ns // s.typical_count)::BIGINT),
                o.op.name
            ),
            ''
        )
    ) AS evidence,
    json_object(
        'idle_ns', t.idle_ns,
        'gap_count', t.gap_count,
        'longest_ns', t.longest_ns,
        'operator', o.op.name,
        'operator_ns', (o.op.ns // s.typical_count)::BIGINT
    ) AS numbers,
    t.idle_ns AS gain_ns,
    'exposed idle' AS gain_method,
    'medium' AS confidence,
    'Launch fewer and larger kernels: fuse these operators, use torch.compile, or record them as a '
    || 'CUDA graph.' AS advice,
    'launch_summary' AS see
FROM query_table(idle_totals) AS t
JOIN query_table(scopes) AS s ON s.job = t.job AND s.rank = t.rank
LEFT JOIN top_op AS o
    ON o.job = t.job AND o.rank = t.rank AND o.device IS NOT DISTINCT FROM t.device
WHERE t.rule = 'launch_overhead';
