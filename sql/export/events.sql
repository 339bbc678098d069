-- A range of a rank's events in Chrome's trace format, one line per event.
--
-- Variables:
--   * export_job, export_rank
--   * export_from_id, export_until_id: first event of the range, and the event after the last
--   * export_base_ns: the time from which time stamps are counted
--   * export_all: false if only the events in export_selected are exported
--   * export_in_place: true if metadata events are written here, in their place between other
--     events. False if metadata.sql or processes.sql writes them
--   * export_rank_digits: the rank's number as digits, appended to each id that links events (such
--     as correlation ids), so that no id links events of two ranks. An id of 0 links nothing and
--     does not change. (NULL: only one rank is exported)
--   * export_shift_ns: added to time stamps (NULL: 0)
WITH
lanes AS (
    SELECT pid, tid, new_pid
    FROM export_lanes
    WHERE rank = getvariable('export_rank')
),
numbers AS (
    SELECT device, new_device
    FROM export_devices
    WHERE rank = getvariable('export_rank')
),
selected AS (
    SELECT event_id
    FROM export_selected
    WHERE rank = getvariable('export_rank')
),
picked AS (
    SELECT
        e.*,
        m.members,
        l.new_pid,
        n.device AS old_device,
        n.new_device
    FROM events AS e
    LEFT JOIN export_marks AS m ON m.event_id = e.event_id
    LEFT JOIN lanes AS l
        ON l.pid IS NOT DISTINCT FROM e.pid AND l.tid IS NOT DISTINCT FROM e.tid
    LEFT JOIN numbers AS n
        ON n.device = CASE
            -- A Triton operator is a host event, although it reports a device.
            WHEN is_host_op(e.cat) THEN NULL
            WHEN e.name = '[memory]' THEN device_of_memory(e.args)
            ELSE e.device
        END
    WHERE e.job = getvariable('export_job')
      AND e.rank = getvariable('export_rank')
      AND e.event_id >= getvariable('export_from_id')
      AND e.event_id < getvariable('export_until_id')
      AND (getvariable('export_in_place') OR e.ph <> 'M')
      AND (getvariable('export_all') OR e.event_id IN (SELECT event_id FROM selected))
),
with_ids AS (
    SELECT
        *,
        CASE
            WHEN getvariable('export_rank_digits') IS NULL
            THEN args
            ELSE ids_of_rank(args, getvariable('export_rank_digits'))
        END AS args_with_ids
    FROM picked
)
SELECT chrome_event(
    ph, cat, name, coalesce(new_pid, pid), tid,
    start_ns + coalesce(getvariable('export_shift_ns'), 0) - getvariable('export_base_ns'),
    dur_ns,
    CASE
        WHEN getvariable('export_rank_digits') IS NULL OR id IS NULL
        THEN id
        WHEN regexp_full_match(id, '-?\d+')
        THEN regexp_replace(id, '([1-9]\d*)$', '\1' || getvariable('export_rank_digits'))
        -- Hexadecimal ids are text.
        ELSE id || '/' || getvariable('export_rank_digits')
    END,
    bp, s,
    with_members(
        CASE
            WHEN new_device <> old_device
            THEN regexp_replace(
                args_with_ids, '("(?:device|Device Id)"\s*:\s*"?)\d+',
                '\1' || new_device::VARCHAR
            )
            ELSE args_with_ids
        END,
        members
    ),
    more
) AS line
FROM with_ids
ORDER BY event_id
