-- One row per given instant of a host thread: the name of the innermost operation at the instant.
--
-- `instants` has instant_id, job, rank, pid, tid and at_ns.
-- `ops`: rows of host_ops.
--
-- Returns instant_id and name. An instant outside of all operations has no row. The innermost
-- operation is the operation that begins last. If several begin at the same time, it is the
-- shortest of them, and then the operation with the highest event_id.
--
-- Instants and operations are joined by buckets of time. The buckets of an operation are 1 to 4
-- times as long as the operation, so that the operation is in at most two buckets. An instant is in
-- one bucket of each length, so that it meets short and long operations.
CREATE OR REPLACE MACRO host_at(instants, ops) AS TABLE
WITH
asked AS MATERIALIZED (
    FROM query_table(instants)
),
instant_buckets AS MATERIALIZED (
    SELECT *, at_ns >> (2 * scale) AS bucket
    FROM (
        SELECT *, unnest(range(31)) AS scale
        FROM asked
    )
),
-- The operations that last at least 1 ns, and the scale of their buckets. A bucket of a scale lasts
-- 4 ** scale ns.
spans AS (
    SELECT
        o.job,
        o.rank,
        o.pid,
        o.tid,
        o.event_id,
        o.name,
        o.start_ns,
        o.end_ns,
        -- The lowest scale whose buckets are at least as long as the operation.
        ceil(log2(greatest(1, o.end_ns - o.start_ns)) / 2)::BIGINT AS scale
    FROM query_table(ops) AS o
    WHERE o.end_ns > o.start_ns
),
span_buckets AS (
    SELECT *, start_ns >> (2 * scale) AS bucket
    FROM spans
    UNION ALL
    SELECT *, (start_ns >> (2 * scale)) + 1 AS bucket
    FROM spans
    WHERE end_ns >> (2 * scale) > start_ns >> (2 * scale)
),
meetings AS MATERIALIZED (
    SELECT i.instant_id, i.at_ns, s.name, s.start_ns, s.end_ns, s.event_id
    FROM span_buckets AS s
    JOIN instant_buckets AS i
        ON i.job = s.job AND i.rank = s.rank
        AND i.pid IS NOT DISTINCT FROM s.pid AND i.tid IS NOT DISTINCT FROM s.tid
        AND i.scale = s.scale AND i.bucket = s.bucket
)
SELECT
    instant_id,
    max({'start_ns': start_ns, 'end_ns': -end_ns, 'event_id': event_id, 'name': name}).name AS name
FROM meetings
WHERE start_ns <= at_ns AND at_ns < end_ns
GROUP BY instant_id;
