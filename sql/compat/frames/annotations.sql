-- get_gpu_user_annotation_breakdown: annotations by name.
--
-- $cat: their category. $share, $name_count, $kept_texts: as in hta_folded.
WITH
calls AS (
    SELECT e.rank, 'annotation' AS kind, e.name, e.dur_ns
    FROM events AS e
    WHERE e.cat = $cat AND e.dur_ns IS NOT NULL
)
SELECT
    name,
    total_us AS "sum (us)",
    max_us AS "max (us)",
    min_us AS "min (us)",
    stddev_us AS stddev,
    mean_us AS "mean (us)",
    rank
FROM hta_folded(calls, $share, $name_count, $kept_texts)
ORDER BY rank, name
