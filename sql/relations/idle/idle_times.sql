-- One row per activity that ends an idle time: when the idle time began, and how long it is.
--
-- `activities` has job, rank, device, stream, event_id, start_ns and end_ns.
--
-- Returns all columns of `activities`, and idle_since_ns, gap_ns and previous_id, the event_id of
-- the activity before. Each (job, rank, device,
-- stream) has its own idle times. For idle times of whole devices, pass a NULL stream.
--
-- The activities are read in the order of (start_ns, event_id). idle_since_ns is the latest end
-- of all earlier activities. If an activity starts after this latest end, it ends an idle time:
--
--     a  [=======)
--     b    [===)                    inside a
--     c              [====)         ends an idle time since the end of a, not of b
--     d                   [===)     no idle time: d starts where c ends
CREATE OR REPLACE MACRO idle_times(activities) AS TABLE
WITH
reached AS (
    SELECT
        *,
        max(end_ns) OVER before AS idle_since_ns,
        lag(event_id) OVER before AS previous_id
    FROM query_table(activities)
    WINDOW before AS (
        PARTITION BY job, rank, device, stream
        ORDER BY start_ns, event_id
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    )
)
SELECT *, start_ns - idle_since_ns AS gap_ns
FROM reached
WHERE start_ns > idle_since_ns;
