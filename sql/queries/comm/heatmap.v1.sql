-- How busy every rank was, time bucket by time bucket, on aligned clocks.
--
-- The table behind a picture with a row for each rank and a column for each bucket. Of each bucket,
-- busy_frac is the share in which activities of the kind ran, on any device and stream of the rank;
-- an instant with several counts once. `busy` is any kind. Ranks are moved onto the clock of their
-- reference rank, as clock_offsets tells it; one whose clock is not known stays where it is.
--
-- Every rank and kind that the job has is there with every bucket, 0 included. HTA has no
-- counterpart.
--
-- since: 0.1
-- grain: job, rank, kind, bucket
-- returns:
--   job            VARCHAR  -      run of a program
--   rank           INTEGER  -      rank of the process
--   kind           VARCHAR  -      computation, communication, memory or busy
--   bucket         BIGINT   -      0, 1, ... from the first activity of the job's selected ranks on
--   start_ns       BIGINT   ns     start of the bucket, on the reference rank's clock
--   from_start_ns  BIGINT   ns     the same from the first activity on
--   length_ns      BIGINT   ns     of the bucket; the last one may reach past the last activity
--   busy_ns        BIGINT   ns     time with activities of the kind
--   busy_frac      DOUBLE   0-1    busy_ns / length_ns
-- check: busy_ns BETWEEN 0 AND length_ns
-- check: from_start_ns = bucket * length_ns
CREATE OR REPLACE MACRO heatmap_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure; NULL means all
    only_ranks INTEGER[] := NULL,  -- ranks to measure; NULL means all
    only_steps BIGINT[] := NULL,  -- steps to measure; NULL means all, and what runs outside steps
    bucket_count BIGINT := 100  -- into how many buckets a job's time is cut
) AS TABLE
WITH
members AS MATERIALIZED (
    FROM paired_members(only_jobs)
),
clocks AS MATERIALIZED (
    FROM aligned_clocks(members)
),
activities AS MATERIALIZED (
    SELECT
        a.job,
        a.rank,
        a.kind,
        coalesce(aligned_ns(a.start_ns, c.local_ns, c.reference_ns, c.gain), a.start_ns)
            AS start_ns,
        coalesce(aligned_ns(a.end_ns, c.local_ns, c.reference_ns, c.gain), a.end_ns)
            AS end_ns
    FROM gpu_activities AS a
    LEFT JOIN clocks AS c ON c.job = a.job AND c.rank = a.rank
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, a.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, a.rank))
      AND (only_steps IS NULL OR list_contains(only_steps, a.step))
),
extents AS MATERIALIZED (
    SELECT
        job,
        first_start_ns,
        greatest(1, (span_ns + bucket_count - 1) // greatest(1, bucket_count)) AS length_ns
    FROM (
        SELECT job, min(start_ns) AS first_start_ns, max(end_ns) - min(start_ns) AS span_ns
        FROM activities
        GROUP BY job
    )
),
-- Ranks end to end on one axis of time, as in busy_times; zero_ns is where the job begins on it.
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
        FROM activities
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
    FROM activities AS a
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
-- The part of each past those of its kind that began before it, from from_ns on, and past all that
-- did, from from_idle_ns on; nothing where that is its end or later.
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
-- What of them is in the bucket in which they begin; the few that go on are listed with it.
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
    FROM activities
    UNION
    SELECT DISTINCT job, 'busy' AS kind
    FROM activities
),
cells AS (
    SELECT
        r.lane, r.job, r.rank, k.kind, r.first_start_ns, r.length_ns,
        unnest(range(bucket_count)) AS bucket
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
LEFT JOIN busy AS b ON b.lane = c.lane AND b.kind = c.kind AND b.bucket = c.bucket
ORDER BY c.job, c.rank, c.kind, c.bucket;
