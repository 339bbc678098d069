-- One row per window and activity that runs in the window. A window is a time range on a rank.
--
--     windows     window_id, job, rank, from_ns and until_ns
--     activities  job, rank, event_id, kind, name, op_id, start_ns and end_ns
--
-- Returns window_id and the columns of `activities`. start_ns and end_ns are cut to the window. A
-- window has no rows if it is empty, or if its job, rank, from_ns or until_ns is NULL.
--
-- The macro cuts time into buckets, and joins windows and activities by bucket. A bucket is as long
-- as the job's mean window. If the mean distance from window to window on a rank is longer, a
-- bucket is as long as this distance. If a window and an activity share several buckets, the macro
-- keeps the row of the first shared bucket.
CREATE OR REPLACE MACRO window_pieces(windows, activities) AS TABLE
WITH
sizes AS MATERIALIZED (
    SELECT
        job,
        min(from_ns) AS first_ns,
        max(until_ns) AS last_ns,
        greatest(
            1,
            avg(until_ns - from_ns),
            (max(until_ns) - min(from_ns))::DOUBLE * count(DISTINCT rank) / count(*)
        )::BIGINT AS bucket_ns
    FROM query_table(windows)
    WHERE until_ns > from_ns
    GROUP BY job
),
window_buckets AS MATERIALIZED (
    SELECT
        w.window_id,
        w.job,
        w.rank,
        w.from_ns,
        w.until_ns,
        w.from_ns // s.bucket_ns AS first_bucket,
        unnest(range(w.from_ns // s.bucket_ns, w.until_ns // s.bucket_ns + 1)) AS bucket
    FROM query_table(windows) AS w
    JOIN sizes AS s ON s.job = w.job
    WHERE w.until_ns > w.from_ns
),
in_buckets AS (
    SELECT
        a.job, a.rank, a.event_id, a.kind, a.name, a.op_id, a.start_ns, a.end_ns,
        -- The time of an activity outside of all windows could be very many buckets.
        greatest(a.start_ns, s.first_ns) // s.bucket_ns AS begun_bucket,
        least(a.end_ns, s.last_ns) // s.bucket_ns AS ended_bucket
    FROM query_table(activities) AS a
    JOIN sizes AS s ON s.job = a.job
),
-- Few activities are in more than two buckets. Only these need a list of buckets, which takes time.
activity_buckets AS (
    SELECT *, begun_bucket AS bucket
    FROM in_buckets
    WHERE ended_bucket >= begun_bucket
    UNION ALL
    SELECT *, ended_bucket AS bucket
    FROM in_buckets
    WHERE ended_bucket > begun_bucket
    UNION ALL
    SELECT *, unnest(range(begun_bucket + 1, ended_bucket)) AS bucket
    FROM in_buckets
    WHERE ended_bucket > begun_bucket + 1
),
meetings AS MATERIALIZED (
    SELECT
        w.window_id,
        w.first_bucket,
        w.bucket,
        w.from_ns,
        w.until_ns,
        a.job,
        a.rank,
        a.event_id,
        a.kind,
        a.name,
        a.op_id,
        a.start_ns,
        a.end_ns,
        a.begun_bucket
    FROM activity_buckets AS a
    JOIN window_buckets AS w ON w.job = a.job AND w.rank = a.rank AND w.bucket = a.bucket
)
SELECT
    window_id,
    job,
    rank,
    event_id,
    kind,
    name,
    op_id,
    greatest(start_ns, from_ns) AS start_ns,
    least(end_ns, until_ns) AS end_ns
FROM meetings
WHERE bucket = greatest(first_bucket, begun_bucket)
  AND start_ns < until_ns
  AND end_ns > from_ns;
