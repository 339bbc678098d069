-- Copies between host and device that are slow: from or to pageable memory, or below half of the
-- link's usual bandwidth.
--
-- Gain: the time of these copies that no computation hides, above the time from or to pinned
-- memory. A pinned copy counts as `copy_start_ns` plus its bytes at the rate that pinned copies in
-- the same direction reach on the rank, or else at the link's usual rate (host_link_gbps), or else
-- at `unknown_link_gbps`. The host is blocked in copies of pageable memory, so they count even
-- where the GPU waits for the host. Idle time around them belongs to other rules.
--
-- needs: gpu_activities
--
-- reads: copy_kind, finding_thresholds, humane_bytes, humane_ns
CREATE OR REPLACE MACRO find_pageable_copies(gpu_work, device_rates, scopes) AS TABLE
WITH
limits AS (
    SELECT
        max(value) FILTER (name = 'copy_start_ns') AS copy_start_ns,
        max(value) FILTER (name = 'large_bytes') AS large_bytes,
        max(value) FILTER (name = 'unknown_link_gbps') AS unknown_link_gbps
    FROM finding_thresholds
    WHERE rule = 'pageable_copies'
),
copies AS (
    SELECT
        w.job,
        w.rank,
        copy_kind(w.name) AS way,
        contains(w.name, 'Pageable') AS is_pageable,
        arg_max(w.name, w.busy_ns) AS name,
        arg_max(coalesce(w.copying_name, w.op_name), w.busy_ns) AS op_name,
        sum(w.kernel_count) AS copy_count,
        sum(w.busy_ns) AS busy_ns,
        sum(w.gaining_ns) AS gaining_ns,
        sum(w.exposed_ns) AS exposed_ns,
        sum(w.moved_bytes) AS moved_bytes
    FROM query_table(gpu_work) AS w
    CROSS JOIN limits AS l
    WHERE w.claim = 'copy'
      AND w.moved_bytes > 0
      AND (contains(w.name, 'Pageable')
           OR w.moved_bytes / w.kernel_count >= l.large_bytes)
    GROUP BY w.job, w.rank, copy_kind(w.name), contains(w.name, 'Pageable')
),
rated AS (
    SELECT
        c.*,
        c.moved_bytes / c.busy_ns AS gbps,
        r.link_gbps,
        l.copy_start_ns,
        coalesce(
            max(c.moved_bytes / c.busy_ns) FILTER (NOT c.is_pageable)
                OVER (PARTITION BY c.job, c.rank, c.way),
            r.link_gbps,
            l.unknown_link_gbps
        ) AS pinned_gbps
    FROM copies AS c
    CROSS JOIN limits AS l
    JOIN query_table(device_rates) AS r ON r.job = c.job AND r.rank = c.rank
),
slow AS (
    SELECT
        *,
        CASE WHEN is_pageable THEN pinned_gbps ELSE link_gbps END AS usual_gbps
    FROM rated
    WHERE is_pageable OR gbps < link_gbps / 2
),
totals AS (
    SELECT
        c.job,
        c.rank,
        c.way,
        c.name,
        c.op_name,
        c.is_pageable,
        c.gbps,
        c.usual_gbps,
        s.per_unit,
        (c.copy_count / s.unit_count)::DOUBLE AS copy_count,
        (c.moved_bytes // s.unit_count)::BIGINT AS moved_bytes,
        (c.exposed_ns // s.unit_count)::BIGINT AS exposed_ns,
        (greatest(
            0,
            c.busy_ns - c.moved_bytes / c.usual_gbps
            - c.copy_count * c.copy_start_ns
        ) / c.busy_ns * c.exposed_ns
        * CASE WHEN c.is_pageable THEN 1 ELSE c.gaining_ns / c.busy_ns END
        / s.unit_count)::BIGINT AS gain_ns
    FROM slow AS c
    JOIN query_table(scopes) AS s ON s.job = c.job AND s.rank = c.rank
    WHERE c.busy_ns > 0
)
SELECT
    job,
    rank,
    way || CASE WHEN is_pageable THEN ' pageable' ELSE '' END AS topic,
    name AS subject,
    CASE
        WHEN is_pageable THEN 'Copies use pageable memory of the host: ' || name
        ELSE 'Copies between host and device are slow: ' || name
    END AS title,
    format(
        '{} {}{} move{} {} at {:.1f} GB/s; {:.1f} GB/s {}. No computation hides {} of this time.',
        CASE WHEN copy_count = 1 THEN '1 copy' ELSE format('{:g} copies', round(copy_count, 1)) END,
        per_unit,
        coalesce(
            CASE WHEN copy_count = 1 THEN ', in ' ELSE ', most of all in ' END || op_name || ',',
            ''
        ),
        CASE WHEN copy_count = 1 THEN 's' ELSE '' END,
        humane_bytes(moved_bytes),
        gbps,
        usual_gbps,
        CASE
            WHEN is_pageable THEN 'is usual from pinned memory'
            ELSE 'is usual for this link'
        END,
        humane_ns(exposed_ns)
    ) AS evidence,
    json_object(
        'copy_count', copy_count,
        'bytes', moved_bytes,
        'gbps', gbps,
        'usual_gbps', usual_gbps,
        'exposed_ns', exposed_ns,
        'operator', op_name
    ) AS numbers,
    gain_ns,
    'exposed time' AS gain_method,
    CASE WHEN is_pageable THEN 'high' ELSE 'low' END AS confidence,
    CASE
        WHEN is_pageable
        THEN 'Pin the memory (pin_memory=True in the DataLoader, or tensor.pin_memory()), and copy '
            || 'with non_blocking=True.'
        ELSE 'Look for other traffic on the link, memory of a far NUMA node, and a slower slot.'
    END AS advice,
    'memory_bandwidth_summary' AS see
FROM totals;
