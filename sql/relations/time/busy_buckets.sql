-- One row per job, rank, kind and time bucket: how long the rank was busy in the bucket.
--
-- The macro cuts each job's time into buckets of equal length. kind is a kind of activity that the
-- job has, or `busy` for all kinds together. Time in which several activities run counts once.
--
--     activities    job, rank, kind, start_ns and end_ns, on one clock for all ranks of a job
--     bucket_total  number of buckets per job
--
-- Returns job, rank, kind and
--
--     bucket         number of the bucket, from 0
--     start_ns       start of the bucket
--     from_start_ns  time from the job's first activity to the start of the bucket
--     length_ns      length of the bucket
--     busy_ns        time in the bucket in which activities of the kind run
--     busy_frac      busy_ns / length_ns
CREATE OR REPLACE MACRO busy_buckets(activities, bucket_total) AS TABLE
WITH
picked AS MATERIALIZED (
    SELECT job, rank, kind, start_ns, end_ns
    FROM query_table(activities)
),
extents AS MATERIALIZED (
    SELECT
        job,
        first_start_ns,
        greatest(1, (span_ns + bucket_total - 1) // greatest(1, bucket_total)) AS length_ns
    FROM (
        SELECT job, min(start_ns) AS first_start_ns, max(end_ns) - min(start_ns) AS span_ns
        FROM picked
        GROUP BY job
    )
),
-- Numbers the ranks (lane) and lays them end to end on one axis of time, as in busy_times. zero_ns
-- is the point on the axis at which bucket 0 of the rank begins.
ranks AS MATERIALIZED (
    SELECT
        row_number() OVER in_order AS lane,
        r.job,
        r.rank,
        (sum(r.last_ns - r.first_ns) OVER in_order - r.last_ns)::BIGINT AS shift_ns,
        shift_ns + e.first_start_ns AS zero_ns,
        e.first_start_ns,
        e.length_ns
    FROM (
        SELECT job, rank, min(start_ns) AS first_ns, max(end_ns) AS last_ns
        FROM picked
        GROUP BY job, rank
    ) AS r
    JOIN extents AS e ON e.job = r.job
    WINDOW in_order AS (ORDER BY r.job, r.rank ROWS UNBOUNDED PRECEDING)
),
on_axis AS (
    SELECT
        r.lane,
        r.zero_ns,
        r.length_ns,
        a.kind,
        a.start_ns + r.shift_ns AS start_ns,
        a.end_ns + r.shift_ns AS end_ns
    FROM picked AS a
    JOIN ranks AS r ON r.job = a.job AND r.rank = a.rank
),
reached AS (
    SELECT
        *,
        max(end_ns) FILTER (kind = 'computation') OVER before_it AS computation_until_ns,
        max(end_ns) FILTER (kind = 'communication') OVER before_it AS communication_until_ns,
        max(end_ns) FILTER (kind = 'memory') OVER before_it AS memory_until_ns
    FROM on_axis
    WINDOW before_it AS (ORDER BY start_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
),
-- The parts of each activity that add to the busy time:
--   * from_ns to until_ns adds to the time of its kind. from_ns is after the ends of all earlier
--     activities of the kind.
--   * from_idle_ns to until_ns adds to the time of all kinds together. from_idle_ns is after the
--     ends of all earlier activities.
--
-- A part is empty if it begins at until_ns or later.
parts AS (
    SELECT
        lane,
        kind,
        length_ns,
        greatest(
            start_ns,
            CASE kind
                WHEN 'computation' THEN computation_until_ns
                WHEN 'communication' THEN communication_until_ns
                ELSE memory_until_ns
            END
        ) - zero_ns AS from_ns,
        greatest(start_ns, computation_until_ns, communication_until_ns, memory_until_ns) - zero_ns
            AS from_idle_ns,
        end_ns - zero_ns AS until_ns,
        from_ns // length_ns AS first_bucket
    FROM reached
),
-- The time that parts add to the bucket in which they begin. `going_on` lists the few parts that
-- continue after this bucket.
begun AS MATERIALIZED (
    SELECT
        lane,
        kind,
        first_bucket AS bucket,
        any_value(length_ns) AS length_ns,
        sum(least(until_ns, (first_bucket + 1) * length_ns) - from_ns)::BIGINT AS kind_ns,
        sum(greatest(0, least(until_ns, (first_bucket + 1) * length_ns) - from_idle_ns))::BIGINT
            AS added_ns,
        list({'from_idle_ns': from_idle_ns, 'until_ns': until_ns}) FILTER (
            until_ns > (first_bucket + 1) * length_ns
        ) AS going_on
    FROM parts
    WHERE from_ns < until_ns
    GROUP BY lane, kind, first_bucket
),
gone_on AS (
    SELECT
        *,
        unnest(range(first_bucket + 1, (part.until_ns - 1) // length_ns + 1)) AS bucket
    FROM (
        SELECT lane, kind, length_ns, bucket AS first_bucket, unnest(going_on) AS part
        FROM begun
    )
),
of_kinds AS (
    SELECT
        lane,
        kind,
        bucket,
        sum(kind_ns)::BIGINT AS kind_ns,
        sum(added_ns)::BIGINT AS added_ns
    FROM (
        SELECT lane, kind, bucket, kind_ns, added_ns
        FROM begun
        UNION ALL
        SELECT
            lane,
            kind,
            bucket,
            least(part.until_ns, (bucket + 1) * length_ns) - bucket * length_ns AS kind_ns,
            greatest(
                0,
                least(part.until_ns, (bucket + 1) * length_ns)
                    - greatest(part.from_idle_ns, bucket * length_ns)
            ) AS added_ns
        FROM gone_on
    )
    GROUP BY lane, kind, bucket
),
busy AS (
    SELECT lane, kind, bucket, kind_ns AS busy_ns
    FROM of_kinds
    UNION ALL
    SELECT lane, 'busy' AS kind, bucket, sum(added_ns)::BIGINT AS busy_ns
    FROM of_kinds
    GROUP BY lane, bucket
),
kinds AS (
    SELECT DISTINCT job, kind
    FROM picked
    UNION
    SELECT DISTINCT job, 'busy' AS kind
    FROM picked
),
cells AS (
    SELECT
        r.lane, r.job, r.rank, k.kind, r.first_start_ns, r.length_ns,
        unnest(range(bucket_total)) AS bucket
    FROM ranks AS r
    JOIN kinds AS k ON k.job = r.job
)
SELECT
    c.job,
    c.rank,
    c.kind,
    c.bucket,
    c.first_start_ns + c.bucket * c.length_ns AS start_ns,
    c.bucket * c.length_ns AS from_start_ns,
    c.length_ns,
    coalesce(b.busy_ns, 0) AS busy_ns,
    coalesce(b.busy_ns, 0) / c.length_ns AS busy_frac
FROM cells AS c
LEFT JOIN busy AS b ON b.lane = c.lane AND b.kind = c.kind AND b.bucket = c.bucket;
