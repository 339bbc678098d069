-- One row per event of the ranks in export_batch (the ranks prepared together) that belongs to the
-- exported step. lane is the event's thread or stream in export_lanes.
--
-- If export_kernels_only is true, only GPU activities have rows. If it is false, these rules hold:
--   * A host span or GPU activity belongs to the step that it has in host_ops or gpu_activities.
--     The annotation of the step belongs to the step, too.
--   * Any other host event, such as an instant, belongs to the step if it begins in a host span
--     of the step.
--   * Any other event of a device belongs to the step if it begins in the device's time of the
--     step. This time is from the start of the step's first activity on the device to the end of
--     the step's last activity on the device. Both ends are included.
--   * An annotation on a device also belongs to the step if its host annotation belongs to the
--     step.
--   * If an arrow begins at a host event of the step, all events of the arrow belong to the step.
CREATE OR REPLACE TEMP TABLE export_selected AS
WITH
spans AS (
    SELECT rank, device, start_ns, end_ns
    FROM export_spans
    WHERE list_contains(getvariable('export_batch'), rank)
),
ops AS (
    SELECT o.rank, o.event_id, o.cat, o.external_id
    FROM host_ops AS o
    WHERE o.job = getvariable('export_job')
      AND list_contains(getvariable('export_batch'), o.rank)
      AND o.step = getvariable('export_step')
),
of_step AS (
    SELECT rank, event_id FROM ops
    UNION
    SELECT s.rank, s.event_id
    FROM steps AS s
    WHERE s.job = getvariable('export_job')
      AND list_contains(getvariable('export_batch'), s.rank)
      AND s.step = getvariable('export_step')
    UNION
    SELECT a.rank, a.event_id
    FROM gpu_activities AS a
    WHERE a.job = getvariable('export_job')
      AND list_contains(getvariable('export_batch'), a.rank)
      AND a.step = getvariable('export_step')
),
of_rank AS MATERIALIZED (
    SELECT
        e.rank,
        e.event_id,
        e.ph,
        e.cat,
        e.ph IN ('s', 't', 'f') AS is_arrow,
        -- Only for arrows, since names of other events can be long.
        CASE WHEN is_arrow THEN e.name END AS name,
        e.id,
        e.start_ns,
        e.external_id,
        l.lane,
        coalesce(e.device, l.device) AS device,
        l.is_device OR e.cat IN ('gpu_user_annotation', 'cuda_sync', 'cuda_event') AS is_device,
        e.ph = 'X' AND (is_host_op(e.cat) OR is_gpu_activity(e.cat)) AS has_step
    FROM events AS e
    JOIN export_lanes AS l
        ON l.rank = e.rank
        AND l.pid IS NOT DISTINCT FROM e.pid
        AND l.tid IS NOT DISTINCT FROM e.tid
    WHERE e.job = getvariable('export_job')
      AND list_contains(getvariable('export_batch'), e.rank)
      AND e.ph <> 'M'
),
others AS (
    SELECT *
    FROM of_rank
    WHERE NOT has_step AND NOT getvariable('export_kernels_only')
),
on_host AS (
    SELECT o.*
    FROM others AS o
    SEMI JOIN (FROM spans WHERE device IS NULL) AS s
        ON s.rank = o.rank AND o.start_ns >= s.start_ns AND o.start_ns < s.end_ns
    WHERE NOT o.is_device
),
arrows AS (
    SELECT DISTINCT rank, cat, name, id
    FROM on_host
    WHERE ph = 's'
),
picked AS (
    SELECT r.rank, r.event_id, r.lane
    FROM of_rank AS r
    SEMI JOIN of_step AS o ON o.rank = r.rank AND o.event_id = r.event_id
    WHERE NOT getvariable('export_kernels_only') OR is_gpu_activity(r.cat)
    UNION ALL
    SELECT rank, event_id, lane
    FROM on_host
    WHERE NOT is_arrow
    UNION ALL
    SELECT o.rank, o.event_id, o.lane
    FROM others AS o
    SEMI JOIN (FROM spans WHERE device IS NOT NULL) AS s
        ON s.rank = o.rank
        AND s.device = o.device
        AND o.start_ns >= s.start_ns
        AND o.start_ns <= s.end_ns
    WHERE o.is_device AND NOT o.is_arrow
    UNION ALL
    SELECT o.rank, o.event_id, o.lane
    FROM others AS o
    SEMI JOIN (FROM ops WHERE cat = 'user_annotation' AND external_id <> 0) AS a
        ON a.rank = o.rank AND a.external_id = o.external_id
    WHERE o.is_device AND o.cat = 'gpu_user_annotation'
    UNION ALL
    SELECT o.rank, o.event_id, o.lane
    FROM others AS o
    SEMI JOIN arrows AS a
        ON a.rank = o.rank
        AND a.cat IS NOT DISTINCT FROM o.cat
        AND a.name IS NOT DISTINCT FROM o.name
        AND a.id = o.id
    WHERE o.is_arrow
)
SELECT DISTINCT rank, event_id, lane
FROM picked
