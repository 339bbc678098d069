-- One row per chosen rank and bucket of time: the fraction of the bucket in which the rank is busy.
--
-- A bucket is one of export_bucket_count equal parts of the time from the first to the last
-- activity of the chosen ranks, on aligned clocks. The query heatmap has the same rows with the
-- kind `busy`. heatmap computes the clocks, whereas this file reads them from export_clocks.
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
