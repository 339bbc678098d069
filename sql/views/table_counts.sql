-- How many rows each table holds of each trace, beside how many its ingest wrote.
--
-- They differ where files of the archive are missing.
CREATE OR REPLACE VIEW table_counts AS
WITH
written AS (
    UNPIVOT (
        SELECT
            job,
            rank,
            event_count AS events,
            host_op_count AS host_ops,
            gpu_activity_count AS gpu_activities,
            quarantined_count AS quarantine
        FROM traces
    )
    ON events, host_ops, gpu_activities, quarantine
    INTO NAME table_name VALUE written_count
),
held AS (
    SELECT job, rank, 'events' AS table_name, count(*) AS row_count
    FROM events GROUP BY job, rank
    UNION ALL
    SELECT job, rank, 'host_ops' AS table_name, count(*) AS row_count
    FROM host_ops GROUP BY job, rank
    UNION ALL
    SELECT job, rank, 'gpu_activities' AS table_name, count(*) AS row_count
    FROM gpu_activities GROUP BY job, rank
    UNION ALL
    SELECT job, rank, 'quarantine' AS table_name, count(*) AS row_count
    FROM quarantine GROUP BY job, rank
)
SELECT
    written.job,
    written.rank,
    written.table_name,
    coalesce(held.row_count, 0) AS row_count,   -- rows in the archive's files
    written.written_count                       -- rows that ingest wrote
FROM written
LEFT JOIN held
    ON held.job = written.job AND held.rank = written.rank
    AND held.table_name = written.table_name;
