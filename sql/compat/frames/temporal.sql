-- get_temporal_breakdown: one row per rank that has GPU activities. The devices of a rank add up.
WITH
times AS (
    SELECT
        rank,
        sum(idle_ns) AS idle_ns,
        sum(compute_ns) AS compute_ns,
        sum(non_compute_ns) AS non_compute_ns,
        sum(span_ns) AS span_ns
    FROM temporal_breakdown_v1()
    GROUP BY rank
)
SELECT
    rank,
    hta_us(idle_ns) AS "idle_time(us)",
    hta_us(compute_ns) AS "compute_time(us)",
    hta_us(non_compute_ns) AS "non_compute_time(us)",
    hta_us(span_ns) AS "kernel_time(us)",
    hta_rounded(100 * idle_ns / span_ns, 2) AS idle_time_pctg,
    hta_rounded(100 * compute_ns / span_ns, 2) AS compute_time_pctg,
    hta_rounded(100 * non_compute_ns / span_ns, 2) AS non_compute_time_pctg
FROM times
ORDER BY rank
