-- get_gpu_kernel_breakdown, second frame: kernels by kind and name.
--
-- $memory: whether copies and memsets count. $share, $name_count: as in hta_folded.
WITH
calls AS (
    SELECT a.rank, upper(a.kind) AS kind, a.name, a.dur_ns
    FROM gpu_activities AS a
    WHERE a.kind <> 'memory' OR $memory
)
SELECT
    name,
    total_us AS "sum (us)",
    max_us AS "max (us)",
    min_us AS "min (us)",
    stddev_us AS stddev,
    mean_us AS "mean (us)",
    kind AS kernel_type,
    rank
FROM hta_folded(calls, $share, $name_count, []::VARCHAR[])
ORDER BY kernel_type, name, rank
