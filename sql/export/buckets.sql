-- How busy the chosen ranks were, bucket by bucket on aligned clocks: heatmap's `busy`, but for
-- clocks that are known already.
CREATE OR REPLACE TEMP TABLE export_buckets AS
WITH
activities AS MATERIALIZED (
    SELECT
        a.job,
        a.rank,
        a.kind,
        coalesce(aligned_ns(a.start_ns, c.local_ns, c.reference_ns, c.gain), a.start_ns)
            AS start_ns,
        coalesce(aligned_ns(a.end_ns, c.local_ns, c.reference_ns, c.gain), a.end_ns) AS end_ns
    FROM gpu_activities AS a
    LEFT JOIN export_clocks AS c ON c.rank = a.rank
    WHERE a.job = getvariable('export_job')
      AND list_contains(getvariable('export_ranks'), a.rank)
      AND (getvariable('export_step') IS NULL OR a.step = getvariable('export_step'))
)
SELECT rank, start_ns, busy_frac
FROM busy_buckets(activities, getvariable('export_bucket_count'))
WHERE kind = 'busy'
