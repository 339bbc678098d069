-- How many copies run at each instant, and their total bandwidth.
--
-- reads: copy_kind, gpu_activities

-- The bandwidth of one copy in GB/s. NULL if the bandwidth is not known, or if the copy took no
-- time.
--
-- `said_gbps`: the bandwidth that the profiler reports. If `said_gbps` is NULL or negative, the
-- result is `bytes` divided by `dur_ns`.
--
-- The value is in fixed point. A running sum then does not depend on the order of the copies, and
-- is exactly 0 when no copy runs. A value of 1e9 GB/s or more does not fit and counts as unknown.
CREATE OR REPLACE MACRO copy_bandwidth(said_gbps, bytes, dur_ns) AS
CASE
    WHEN dur_ns > 0
    THEN coalesce(
        TRY_CAST(CASE WHEN said_gbps >= 0 THEN said_gbps END AS DECIMAL(24, 15)),
        TRY_CAST(CASE WHEN bytes >= 0 THEN bytes / dur_ns END AS DECIMAL(24, 15))
    )
END;

-- One row per (job, rank, device, copy_kind, at_ns): an instant at which copies begin or end, and
-- the copies that run from this instant until the next instant.
--
-- `jobs`, `ranks` and `steps`: the activities to read, as in activities_of.
--
--     a          [=======)             bandwidth 2
--     b              [=======)         bandwidth 3
--     bandwidth  2   5   3   0
--
-- The drawing gives four rows. Its last line shows their bandwidths. A copy that begins at the
-- instant counts. A copy that ends at the instant no longer counts.
CREATE OR REPLACE MACRO copies_under_way(jobs, ranks, steps) AS TABLE
WITH
copies AS (
    SELECT
        a.job,
        a.rank,
        a.device,
        copy_kind(a.name) AS copy_kind,
        a.start_ns,
        a.end_ns,
        CASE WHEN a.bytes >= 0 THEN a.bytes END AS bytes,
        copy_bandwidth(a.bandwidth_gbps, a.bytes, a.dur_ns) AS bandwidth
    FROM gpu_activities AS a
    WHERE (jobs IS NULL OR list_contains(jobs, a.job))
      AND (ranks IS NULL OR list_contains(ranks, a.rank))
      AND (steps IS NULL OR list_contains(steps, a.step))
      AND a.kind = 'memory'
),
changes AS (
    SELECT
        job,
        rank,
        device,
        copy_kind,
        start_ns AS at_ns,
        1 AS change,
        bandwidth AS bandwidth_change,
        bytes
    FROM copies
    UNION ALL
    SELECT
        job,
        rank,
        device,
        copy_kind,
        end_ns AS at_ns,
        -1 AS change,
        -bandwidth AS bandwidth_change,
        NULL AS bytes
    FROM copies
),
instants AS (
    SELECT
        job,
        rank,
        device,
        copy_kind,
        at_ns,
        count(*) FILTER (change = 1) AS begun_count,
        sum(bytes) AS begun_bytes,
        sum(change) AS change,
        coalesce(sum(bandwidth_change), 0) AS bandwidth_change,
        count(bandwidth_change) > 0 AS is_known
    FROM changes
    GROUP BY job, rank, device, copy_kind, at_ns
)
SELECT
    job,
    rank,
    device,
    copy_kind,
    at_ns,
    lead(at_ns) OVER in_order AS until_ns,
    begun_count,
    begun_bytes,
    sum(change) OVER in_order AS running_count,
    sum(bandwidth_change) OVER in_order AS bandwidth,
    is_known  -- whether a copy of known bandwidth begins or ends at at_ns
FROM instants
WINDOW in_order AS (
    PARTITION BY job, rank, device, copy_kind ORDER BY at_ns ROWS UNBOUNDED PRECEDING
);
