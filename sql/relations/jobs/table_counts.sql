-- One row per rank and table of the archive: the number of rows that the archive's files hold now,
-- and the number of rows that ingest wrote.
--
-- The two numbers differ if files of the archive are missing.
--
-- reads: attachments, events, execution_nodes, gpu_activities, host_ops, memory_events,
--   quarantine, traces
CREATE OR REPLACE VIEW table_counts AS
WITH
written_of_files AS (
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
    UNION ALL
    UNPIVOT (
        SELECT
            job,
            rank,
            CASE WHEN kind = 'execution_trace' THEN row_count END AS execution_nodes,
            CASE WHEN kind = 'memory_timeline' THEN row_count END AS memory_events,
            quarantined_count AS quarantine
        FROM attachments
    )
    ON execution_nodes, memory_events, quarantine
    INTO NAME table_name VALUE written_count
),
written AS (
    SELECT job, rank, table_name, CAST(sum(written_count) AS BIGINT) AS written_count
    FROM written_of_files
    GROUP BY job, rank, table_name
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
    UNION ALL
    SELECT job, rank, 'execution_nodes' AS table_name, count(*) AS row_count
    FROM execution_nodes GROUP BY job, rank
    UNION ALL
    SELECT job, rank, 'memory_events' AS table_name, count(*) AS row_count
    FROM memory_events GROUP BY job, rank
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
