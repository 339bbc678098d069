-- One row per GPU activity of each rank's window: an activity that a span of the window launched.
--
-- An activity without a launch in the trace also belongs to the window if it began in the window.
--
--     turn             number of the activity, one stream after the other, in order of start
--     previous_id      the previous activity on its stream, which may be of another window
--     previous_end_ns  the end of that previous activity
--     is_waited_for    the activity is a copy that had to wait, and its call waited for the copy
--
-- is_waited_for is true under these conditions:
--   * The copy blocks the host (blocks_host) and is not part of a CUDA graph.
--   * The previous activity on its stream did not end before the copy's launch began.
--   * The copy ended before its call ended, or less than 100 us later. The clocks of host and
--     device can disagree by less than 100 us.
CREATE OR REPLACE TEMP TABLE path_activities AS
WITH
of_rank AS (
    SELECT
        a.rank,
        a.event_id,
        coalesce(a.device, -1) AS device,
        coalesce(a.stream, -1) AS stream,
        a.kind,
        a.name,
        a.short_name,
        a.start_ns,
        a.end_ns,
        a.launch_id,
        a.launch_start_ns,
        a.launch_end_ns,
        blocks_host(
            a.launch_name,
            CASE WHEN a.kind = 'memory' THEN copy_kind(a.name) END,
            a.name,
            a.launch_end_ns >= a.end_ns
        ) AS blocks_host,
        coalesce(contains(a.launch_name, 'GraphLaunch'), false) AS is_of_graph
    FROM gpu_activities AS a
    WHERE a.job = getvariable('path_job')
      AND list_contains(getvariable('path_ranks'), a.rank)
),
in_order AS (
    SELECT
        *,
        lag(event_id) OVER on_stream AS previous_id,
        lag(end_ns) OVER on_stream AS previous_end_ns
    FROM of_rank
    WINDOW on_stream AS (PARTITION BY rank, device, stream ORDER BY start_ns, event_id)
)
SELECT
    row_number() OVER (ORDER BY a.rank, a.device, a.stream, a.start_ns, a.event_id) AS turn,
    a.*,
    coalesce(
        a.blocks_host
            AND NOT a.is_of_graph
            AND a.previous_end_ns >= a.launch_start_ns
            AND a.end_ns - a.launch_end_ns < 100000,
        false
    ) AS is_waited_for
FROM in_order AS a
JOIN job_windows AS w ON w.rank = a.rank
LEFT JOIN path_spans AS launch ON launch.rank = a.rank AND launch.event_id = a.launch_id
WHERE launch.event_id IS NOT NULL
   OR (
       a.launch_id IS NULL
       AND a.start_ns >= w.since_ns
       AND a.start_ns < w.until_ns
   );
