-- One row per edge that shows why a GPU activity began when it did, or how long it ran.
--
-- Edges of waiting host calls (path_waits) are here, too.
--
-- An activity can wait for three things. The last of them to come is its reason:
--   * its launch
--   * the previous activity on its stream
--   * activities for which its stream was made to wait (path_waits)
--
--     launch                [c)
--     stream     [=== b ===)       [== c ==)
--     stream     [=== b =============)[== c ==)
--
-- The drawing shows two cases of one stream. In the first case, c has the delay since its launch.
-- In the second case, c has the delay since the end of b.
--
-- Special cases:
--   * If the reason is a previous activity of an earlier window, the edge has no source in this
--     window.
--   * If an activity begins 100 us or more after its reason and after the end of its launch, the
--     query looks for another reason, because traces rarely record which stream waits for which.
--     The new reason is the activity that ended last on any stream of the device, if this activity
--     ended during the delay.
--   * In a CUDA graph, which is launched as a whole, the reason is the activity of this graph that
--     ended last, if it ended during the delay. The delay may have any length.
--   * A delay of 1.5 ms or more does not count as a delay of launch or stream. Its edge is a
--     `dependency`, which takes no time.
--
-- If the launch or the previous activity is not the reason, its edge is an `order`, which is on no
-- rank's path. `why` is what makes the activity wait: launch or stream.
CREATE OR REPLACE TEMP TABLE path_gpu_edges AS
WITH
nodes AS (
    SELECT
        rank,
        event_id,
        max(node) FILTER (is_start) AS first,
        max(node) FILTER (NOT is_start) AS last
    FROM path_nodes
    GROUP BY rank, event_id
),
-- moments and ended find, for each activity, which activity ended last before its start: on its
-- device (on_device), and in its launch of a graph (in_graph). Activities of length zero do not
-- count, because an activity of length zero would find itself.
moments AS (
    SELECT rank, device, stream, launch_id, is_of_graph, end_ns AS at_ns, 0 AS phase, event_id
    FROM path_activities
    WHERE end_ns > start_ns
    UNION ALL
    SELECT rank, device, stream, launch_id, is_of_graph, start_ns AS at_ns, 1 AS phase, event_id
    FROM path_activities
),
ended AS (
    SELECT
        rank,
        event_id,
        phase,
        max(CASE WHEN phase = 0 THEN {'at_ns': at_ns, 'event_id': event_id} END) OVER (
            PARTITION BY rank, device ORDER BY at_ns, phase ROWS UNBOUNDED PRECEDING
        ) AS on_device,
        CASE
            WHEN is_of_graph
            THEN max(CASE WHEN phase = 0 THEN {'at_ns': at_ns, 'event_id': event_id} END) OVER (
                PARTITION BY rank, CASE WHEN is_of_graph THEN launch_id END
                ORDER BY at_ns, phase ROWS UNBOUNDED PRECEDING
            )
        END AS in_graph
    FROM moments
),
stream_waits AS (
    SELECT w.rank, w.target_id, max(a.end_ns) AS end_ns
    FROM path_waits AS w
    JOIN path_activities AS a ON a.rank = w.rank AND a.event_id = w.source_id
    WHERE NOT w.is_of_host
    GROUP BY w.rank, w.target_id
),
known AS (
    SELECT
        a.rank,
        a.event_id,
        a.start_ns,
        a.launch_id,
        a.launch_start_ns,
        a.previous_id,
        a.previous_end_ns,
        w.end_ns AS waited_until_ns,
        greatest(a.launch_start_ns, a.previous_end_ns, w.end_ns) AS known_ns,
        greatest(known_ns, a.launch_end_ns) AS explained_ns,
        e.on_device,
        e.in_graph
    FROM path_activities AS a
    JOIN ended AS e ON e.rank = a.rank AND e.event_id = a.event_id AND e.phase = 1
    LEFT JOIN stream_waits AS w ON w.rank = a.rank AND w.target_id = a.event_id
),
reasons AS (
    SELECT
        *,
        CASE
            WHEN in_graph.at_ns > known_ns THEN in_graph
            WHEN start_ns - explained_ns >= 100000 AND on_device.at_ns > explained_ns THEN on_device
        END AS guess,
        CASE
            WHEN guess IS NOT NULL THEN 'guess'
            WHEN waited_until_ns = known_ns THEN 'wait'
            WHEN previous_end_ns = known_ns THEN 'previous'
            WHEN launch_start_ns = known_ns THEN 'launch'
        END AS reason
    FROM known
)
SELECT
    a.rank,
    n.first AS source,
    n.last AS target,
    'operator' AS edge,
    a.event_id,
    CASE
        WHEN a.kind = 'communication' THEN 'gpu_communication_bound'
        WHEN a.kind IS NOT NULL THEN 'gpu_compute_bound'
        ELSE 'cpu_bound'
    END AS bound_by,
    a.end_ns - a.start_ns AS time_ns
FROM path_activities AS a
JOIN nodes AS n ON n.rank = a.rank AND n.event_id = a.event_id
UNION ALL BY NAME
SELECT
    r.rank,
    launch.first AS source,
    n.first AS target,
    CASE
        WHEN r.reason IS DISTINCT FROM 'launch' THEN 'order'
        WHEN r.start_ns - r.launch_start_ns >= 1500000 THEN 'dependency'
        ELSE 'kernel_launch_delay'
    END AS edge,
    CASE WHEN edge = 'kernel_launch_delay' THEN r.event_id END AS event_id,
    CASE WHEN edge = 'kernel_launch_delay' THEN 'gpu_kernel_launch_overhead' END AS bound_by,
    CASE WHEN edge = 'kernel_launch_delay' THEN r.start_ns - r.launch_start_ns ELSE 0 END
        AS time_ns,
    'launch' AS why
FROM reasons AS r
JOIN nodes AS n ON n.rank = r.rank AND n.event_id = r.event_id
JOIN nodes AS launch ON launch.rank = r.rank AND launch.event_id = r.launch_id
UNION ALL BY NAME
-- If the previous activity belongs to an earlier window, it has no node.
SELECT
    r.rank,
    previous.last AS source,
    n.first AS target,
    CASE
        WHEN r.reason IS DISTINCT FROM 'previous' OR previous.last IS NULL THEN 'order'
        WHEN r.start_ns - r.previous_end_ns >= 1500000 THEN 'dependency'
        ELSE 'kernel_kernel_delay'
    END AS edge,
    CASE WHEN edge = 'kernel_kernel_delay' THEN r.previous_id END AS event_id,
    CASE WHEN edge = 'kernel_kernel_delay' THEN 'gpu_kernel_kernel_overhead' END AS bound_by,
    CASE WHEN edge = 'kernel_kernel_delay' THEN r.start_ns - r.previous_end_ns ELSE 0 END
        AS time_ns,
    'stream' AS why
FROM reasons AS r
JOIN nodes AS n ON n.rank = r.rank AND n.event_id = r.event_id
LEFT JOIN nodes AS previous ON previous.rank = r.rank AND previous.event_id = r.previous_id
WHERE previous.last IS NOT NULL OR r.reason = 'previous'
UNION ALL BY NAME
SELECT
    r.rank,
    source.last AS source,
    n.first AS target,
    'sync_dependency' AS edge,
    NULL AS event_id,
    0 AS time_ns,
    'stream' AS why
FROM reasons AS r
JOIN nodes AS n ON n.rank = r.rank AND n.event_id = r.event_id
JOIN nodes AS source ON source.rank = r.rank AND source.event_id = r.guess.event_id
UNION ALL BY NAME
SELECT
    w.rank,
    source.last AS source,
    CASE WHEN w.is_of_host THEN target.last ELSE target.first END AS target,
    'sync_dependency' AS edge,
    NULL AS event_id,
    0 AS time_ns,
    CASE WHEN NOT w.is_of_host THEN 'stream' END AS why
FROM path_waits AS w
JOIN nodes AS source ON source.rank = w.rank AND source.event_id = w.source_id
JOIN nodes AS target ON target.rank = w.rank AND target.event_id = w.target_id;
