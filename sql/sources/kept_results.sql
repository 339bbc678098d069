-- The archive's stored results, of jobs whose traces are still as they were.
CREATE OR REPLACE VIEW kept_results AS
FROM kept_results_schema()
UNION ALL BY NAME
SELECT k.*
FROM read_parquet(
    archive_manifest('kept_results'),
    hive_partitioning = false,
    union_by_name = archive_is_mixed()
) AS k
SEMI JOIN (
    SELECT t.job, traces_hash_of(t.trace_id, t.rank) AS traces_hash
    FROM traces AS t
    GROUP BY t.job
) AS now
    ON now.job = k.job AND now.traces_hash = k.traces_hash;
