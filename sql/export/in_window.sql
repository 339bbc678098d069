-- One row per event of the ranks in export_batch (the ranks prepared together) that overlaps a
-- window of aligned time. lane is the event's thread or stream in export_lanes.
--
-- If the window is NULL, all events have rows. If export_kernels_only is true, only GPU activities
-- have rows. If the first end of an arrow is in the window, all ends of the arrow have rows.
CREATE OR REPLACE TEMP TABLE export_selected AS
WITH
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
        l.lane,
        coalesce(aligned_ns(e.start_ns, r.local_ns, r.reference_ns, r.gain), e.start_ns)
            AS from_ns,
        -- An event that is not a span ends when it starts.
        coalesce(
            aligned_ns(coalesce(e.end_ns, e.start_ns), r.local_ns, r.reference_ns, r.gain),
            e.end_ns,
            e.start_ns
        ) AS until_ns
    FROM events AS e
    JOIN export_lanes AS l
        ON l.rank = e.rank
        AND l.pid IS NOT DISTINCT FROM e.pid
        AND l.tid IS NOT DISTINCT FROM e.tid
    JOIN export_ranks AS r ON r.rank = e.rank
    WHERE e.job = getvariable('export_job')
      AND list_contains(getvariable('export_batch'), e.rank)
      AND e.ph <> 'M'
      AND (
        NOT getvariable('export_kernels_only') OR (e.ph = 'X' AND is_gpu_activity(e.cat))
      )
),
inside AS (
    SELECT *
    FROM of_rank
    WHERE getvariable('export_window_from_ns') IS NULL
       OR (
        (
            until_ns > getvariable('export_window_from_ns')
            OR from_ns >= getvariable('export_window_from_ns')
        )
        AND from_ns < getvariable('export_window_until_ns')
       )
),
arrows AS (
    SELECT DISTINCT rank, cat, name, id
    FROM inside
    WHERE ph = 's'
)
SELECT rank, event_id, lane
FROM inside
WHERE NOT is_arrow
UNION ALL
SELECT r.rank, r.event_id, r.lane
FROM of_rank AS r
SEMI JOIN arrows AS a
    ON a.rank = r.rank
    AND a.cat IS NOT DISTINCT FROM r.cat
    AND a.name IS NOT DISTINCT FROM r.name
    AND a.id = r.id
WHERE r.is_arrow
