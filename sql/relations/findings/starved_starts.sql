-- One row per activity before which its stream is idle because the activity is launched late.
--
-- `activities`: job, rank, event_id, start_ns, end_ns, launch_id, launch_start_ns and launch_end_ns
--   of activities. lane: a number per stream of a device. is_waited_for: whether the launch returns
--   only when the activity has ended, so that the host waits for the device.
-- `only_jobs`: the jobs in `activities`; only their waits are read (NULL: all).
--
-- Returns job, rank, event_id and is_after_wait: whether a thread of the process waited for the
-- device when the idle time began, and stopped waiting before the activity started.
--
--     stream  [====)        [=====)         [===)
--     launch            [=)            [=)
--     host                         [wait)
--     row               starved        after a wait
--
-- A launch of a graph starts many activities. Only the first of them waits for the launch.
--
-- reads: host_ops, is_runtime_call, waits_for_device
CREATE OR REPLACE MACRO starved_starts(activities, only_jobs) AS TABLE
WITH
reached AS (
    SELECT
        job,
        rank,
        event_id,
        start_ns,
        launch_id,
        launch_end_ns,
        max(end_ns) OVER (
            PARTITION BY lane
            ORDER BY start_ns, event_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS idle_since_ns
    FROM query_table(activities)
),
starved AS (
    SELECT job, rank, event_id, start_ns, idle_since_ns
    FROM reached
    WHERE start_ns > idle_since_ns AND launch_end_ns > idle_since_ns
    QUALIFY row_number() OVER (
        PARTITION BY job, rank, launch_id ORDER BY start_ns, event_id
    ) = 1
),
waits AS (
    SELECT h.job, h.rank, h.start_ns, h.end_ns
    FROM host_ops AS h
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, h.job))
      AND is_runtime_call(h.cat)
      -- A cheaper test, which all names pass that waits_for_device takes.
      AND (contains(h.name, 'ynchroni') OR contains(h.name, 'Finish') OR contains(h.name, 'Wait'))
      AND waits_for_device(h.name)
    UNION ALL
    SELECT job, rank, launch_start_ns, launch_end_ns
    FROM query_table(activities)
    WHERE is_waited_for
),
in_order AS (
    SELECT
        job,
        rank,
        start_ns AS at_ns,
        end_ns AS until_ns,
        NULL::BIGINT AS event_id,
        NULL::BIGINT AS start_ns
    FROM waits
    UNION ALL
    SELECT job, rank, idle_since_ns AS at_ns, NULL AS until_ns, event_id, start_ns
    FROM starved
),
waited AS (
    SELECT
        job,
        rank,
        event_id,
        start_ns,
        at_ns,
        max(until_ns) OVER (
            PARTITION BY job, rank ORDER BY at_ns, event_id NULLS FIRST ROWS UNBOUNDED PRECEDING
        ) AS until_ns
    FROM in_order
)
SELECT job, rank, event_id, coalesce(until_ns BETWEEN at_ns AND start_ns, false) AS is_after_wait
FROM waited
WHERE event_id IS NOT NULL;
