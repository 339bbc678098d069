-- get_gpu_kernel_breakdown, first frame: time by the kinds that run at the same time, of all ranks.
--
-- $memory: whether copies and memsets count.
WITH
kinds AS (
    SELECT
        concat_ws(
            ' overlapping ',
            CASE WHEN contains(kinds, 'computation') THEN 'COMPUTATION' END,
            CASE WHEN contains(kinds, 'communication') THEN 'COMMUNICATION' END,
            CASE WHEN contains(kinds, 'memory') AND $memory THEN 'MEMORY' END
        ) AS kernel_type,
        sum(time_ns) AS time_ns
    FROM kernel_kind_breakdown_v1()
    GROUP BY kernel_type
)
SELECT
    kernel_type,
    hta_us(time_ns) AS sum,
    hta_rounded(100 * time_ns / sum(time_ns) OVER (), 1) AS percentage
FROM kinds
WHERE kernel_type <> ''
ORDER BY time_ns DESC, kernel_type
