-- Kernels that only move elements: conversions of layouts, copies to contiguous memory, and casts.
--
-- Gain: the time of these kernels, as far as the step gets shorter without them (removing_ns of
-- shared_gpu_work). Copies by the copy engine, and copies of the optimizer, are left out.
--
-- needs: gpu_activities
--
-- reads: humane_count, humane_ns
CREATE OR REPLACE MACRO find_layout_copies(gpu_work, scopes) AS TABLE
WITH
totals AS (
    SELECT
        w.job,
        w.rank,
        coalesce(w.copying_name, w.op_name) AS op_name,
        bool_or(w.layout = 'convert') AS is_conversion,
        arg_max(w.short_name, w.busy_ns) AS kernel,
        (sum(w.kernel_count) / s.unit_count)::BIGINT AS kernel_count,
        (sum(w.busy_ns) // s.unit_count)::BIGINT AS busy_ns,
        (sum(w.removing_ns) // s.unit_count)::BIGINT AS removing_ns,
        s.per_unit
    FROM query_table(gpu_work) AS w
    JOIN query_table(scopes) AS s ON s.job = w.job AND s.rank = w.rank
    WHERE w.claim = 'layout'
    GROUP BY
        w.job, w.rank, coalesce(w.copying_name, w.op_name), s.unit_count, s.per_unit
)
SELECT
    job,
    rank,
    op_name AS topic,
    coalesce(op_name, kernel) AS subject,
    CASE
        WHEN is_conversion
        THEN 'Layouts of tensors are converted' || coalesce(' in ' || op_name, '')
        ELSE coalesce(op_name, kernel) || ' copies tensors to another layout or type'
    END AS title,
    format(
        '{}{} only move elements, most of the time {}. They take {} {}.',
        humane_count(kernel_count, 'kernel', 'kernels'),
        coalesce(' in ' || op_name, ''),
        kernel,
        humane_ns(busy_ns),
        per_unit
    ) AS evidence,
    json_object(
        'kernel_count', kernel_count,
        'copy_ns', busy_ns,
        'kernel', kernel
    ) AS numbers,
    removing_ns AS gain_ns,
    'exposed time' AS gain_method,
    'medium' AS confidence,
    CASE
        WHEN is_conversion
        THEN 'Keep one layout from the first to the last of these operators, such as '
            || 'channels_last for convolutions.'
        ELSE 'Keep tensors in the layout and type that the next operator reads: reorder '
            || 'transposes and views, keep one copy in the lower precision, or fuse the copy with '
            || 'torch.compile.'
    END AS advice,
    'op_stats' AS see
FROM totals;
