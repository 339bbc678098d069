-- How busy the chosen ranks were, bucket by bucket on aligned clocks: heatmap's `busy`, but for
-- clocks that are known already.
CREATE OR REPLACE TEMP TABLE export_buckets AS
WITH
activities AS MATERIALIZED (
    FROM aligned_activities(
        export_clocks,
        [getvariable('export_job')],
        getvariable('export_ranks'),
        CASE WHEN getvariable('export_step') IS NOT NULL THEN [getvariable('export_step')] END
    )
)
SELECT rank, start_ns, busy_frac
FROM busy_buckets(activities, getvariable('export_bucket_count'))
WHERE kind = 'busy'
