-- One row per lane of the ranks in export_batch (the ranks prepared together), with its process in
-- the export. A lane is a thread or a stream.
--
-- A lane belongs to a device (is_device) in two cases:
--   * The lane has activities.
--   * The lane has no activities, such as a lane with only synchronisations. But another lane of
--     its process has activities, and no lane of its process is a host thread: a lane with host
--     events and without activities.
--
-- The query tests each lane, not each process, because a host process and a device can both have
-- the number 1.
--
-- If several ranks are exported together, the process of a device is the device's new number. All
-- processes of the host, and of devices without a new number, are numbered from export_first_pid.
-- If one rank is exported, all processes keep their numbers.
CREATE OR REPLACE TEMP TABLE export_lanes AS
WITH
lanes AS (
    SELECT
        e.rank,
        e.pid,
        e.tid,
        bool_or(e.ph = 'X' AND is_gpu_activity(e.cat)) AS has_activities,
        bool_or(is_host_op(e.cat)) AS has_ops,
        bool_or(e.ph <> 'M') AS has_events,
        min(coalesce(e.device, TRY_CAST(e.pid AS BIGINT)))
            FILTER (e.ph = 'X' AND is_gpu_activity(e.cat)) AS device
    FROM events AS e
    WHERE e.job = getvariable('export_job')
      AND list_contains(getvariable('export_batch'), e.rank)
    GROUP BY e.rank, e.pid, e.tid
),
processes AS (
    SELECT
        rank,
        pid,
        bool_or(has_activities) AS has_activities,
        bool_or(has_ops AND NOT has_activities) AS has_ops,
        min(device) AS device
    FROM lanes
    GROUP BY rank, pid
),
told AS (
    SELECT
        l.rank,
        l.pid,
        l.tid,
        l.has_events,
        l.has_activities OR (p.has_activities AND NOT p.has_ops) AS is_device,
        CASE WHEN l.has_activities OR (p.has_activities AND NOT p.has_ops) THEN p.device END
            AS device
    FROM lanes AS l
    JOIN processes AS p ON p.rank = l.rank AND p.pid IS NOT DISTINCT FROM l.pid
)
SELECT
    row_number() OVER (ORDER BY t.rank, t.pid, t.tid) AS lane,
    t.rank,
    t.pid,
    t.tid,
    t.is_device,
    t.has_events AND getvariable('export_all') AS is_used,
    t.device,
    CASE
        WHEN getvariable('export_first_pid') IS NULL OR t.pid IS NULL THEN t.pid
        WHEN t.is_device AND d.new_device IS NOT NULL THEN d.new_device::VARCHAR
        ELSE (
            getvariable('export_first_pid') - 1
            + dense_rank() OVER (ORDER BY t.rank, t.pid, t.is_device)
        )::VARCHAR
    END AS new_pid
FROM told AS t
LEFT JOIN export_devices AS d
    ON d.rank = t.rank AND d.device = t.device
