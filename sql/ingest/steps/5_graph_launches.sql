-- One row per iteration that begins with the launch of a CUDA or HIP graph.
--
-- An iteration may launch several graphs, one after the other. Between iterations the host waits
-- for the device, since it needs the result. So the first launch after a wait begins an iteration.
-- If the host never waits between launches, each launch begins one. Only the thread with most
-- launches counts. An iteration ends where the next one begins; the last one ends with the thread.
--
--     host    graph  graph  wait  graph  graph  wait
--     step    0                   1
WITH
calls AS (
    SELECT
        event_id,
        name,
        pid,
        tid,
        start_ns,
        start_ns + dur_ns AS end_ns,
        contains(name, 'GraphLaunch') AS is_launch,
        contains(name, 'Synchronize') AS is_wait
    FROM trace_events
    WHERE ph = 'X'
      AND is_runtime_call(cat)
      AND (contains(name, 'GraphLaunch') OR contains(name, 'Synchronize'))
),
busiest AS (
    SELECT pid, tid
    FROM calls
    WHERE is_launch
    GROUP BY pid, tid
    HAVING count(*) >= 2
    ORDER BY count(*) DESC, pid, tid
    LIMIT 1
),
of_thread AS (
    SELECT
        calls.*,
        count_if(is_wait) OVER (
            ORDER BY start_ns, event_id
            ROWS UNBOUNDED PRECEDING
        ) AS wait_count
    FROM calls
    JOIN busiest
        ON busiest.pid IS NOT DISTINCT FROM calls.pid
        AND busiest.tid IS NOT DISTINCT FROM calls.tid
),
launches AS (
    SELECT
        *,
        coalesce(
            wait_count > lag(wait_count) OVER (ORDER BY start_ns, event_id), true
        ) AS follows_wait
    FROM of_thread
    WHERE is_launch
),
begins AS (
    SELECT *
    FROM launches
    WHERE follows_wait OR (SELECT count_if(follows_wait) FROM launches) = 1
),
thread_end AS (
    SELECT max(e.start_ns + e.dur_ns) AS end_ns
    FROM trace_events AS e
    JOIN busiest
        ON busiest.pid IS NOT DISTINCT FROM e.pid AND busiest.tid IS NOT DISTINCT FROM e.tid
    WHERE e.ph = 'X' AND is_runtime_call(e.cat)
)
SELECT
    NULL::BIGINT AS number,
    name AS step_name,
    'graph launch' AS marked_by,
    event_id,
    pid,
    tid,
    start_ns,
    coalesce(
        lead(start_ns) OVER (ORDER BY start_ns, event_id),
        greatest(end_ns, (SELECT end_ns FROM thread_end))
    ) - start_ns AS dur_ns
FROM begins
