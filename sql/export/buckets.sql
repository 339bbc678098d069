-- How busy the chosen ranks are in each bucket of time, on aligned clocks. These are heatmap's
-- `busy` rows, computed with the clocks that are already known.
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
