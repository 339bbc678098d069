-- One row per edge from a node of a thread to the thread's next node. A node is the start or end of
-- a span.
--
-- Inside an outermost span, an edge takes the time between its two nodes. The edge belongs to the
-- innermost span around that time (event_id). Two kinds of edges take no time:
--   * The edge to the end of a call that waits for a device. The activity that the call waits for
--     takes that time.
--   * The edge between two outermost spans, a `dependency`. The trace does not show that anything
--     runs during that time.
--
--     aten::linear    [===================)
--     aten::addmm         [==========)
--     edges           |---|----------|----|- - |
--
-- The edges in the drawing belong to linear, addmm and linear. The last edge is a dependency.
--
-- is_launch is true if the span of the edge launches an activity.
CREATE OR REPLACE TEMP TABLE path_host_edges AS
WITH
points AS (
    SELECT
        n.node,
        n.rank,
        n.thread,
        n.event_id,
        n.is_start,
        n.at_ns,
        -- Level 1 is inside an outermost span. The last node of each thread brings the level back
        -- to 0.
        (sum(CASE WHEN n.is_start THEN 1 ELSE -1 END) OVER (ORDER BY n.node))::BIGINT AS level
    FROM path_nodes AS n
    WHERE n.thread IS NOT NULL
),
-- The span around a start node is the last span that began one level further out.
sought AS (
    SELECT level, node, event_id AS outer_id, false AS is_sought
    FROM points
    WHERE is_start
    UNION ALL
    SELECT level - 1 AS level, node, NULL AS outer_id, true AS is_sought
    FROM points
    WHERE is_start AND level > 1
),
around AS (
    SELECT
        node,
        is_sought,
        arg_max(outer_id, node) OVER (
            PARTITION BY level ORDER BY node ROWS UNBOUNDED PRECEDING
        ) AS outer_id
    FROM sought
),
pairs AS (
    SELECT
        *,
        lag(node) OVER in_order AS previous,
        lag(thread) OVER in_order AS previous_thread,
        lag(event_id) OVER in_order AS previous_id,
        lag(is_start) OVER in_order AS is_previous_start,
        lag(at_ns) OVER in_order AS previous_at_ns
    FROM points
    WINDOW in_order AS (ORDER BY node)
),
waits AS (
    SELECT rank, event_id FROM path_spans WHERE is_wait OR is_poll
    UNION
    SELECT rank, launch_id AS event_id FROM path_activities WHERE is_waited_for
),
edges AS (
    SELECT
        p.rank,
        p.previous AS source,
        p.node AS target,
        if(p.is_start AND p.level = 1, 'dependency', 'operator')::path_edge AS edge,
        CASE
            WHEN edge = 'dependency' THEN NULL
            WHEN p.is_previous_start THEN p.previous_id
            WHEN NOT p.is_start THEN p.event_id
            ELSE around.outer_id
        END AS event_id,
        p.previous_at_ns AS source_ns,
        p.at_ns AS target_ns,
        CASE
            WHEN edge = 'dependency' OR (NOT p.is_start AND waits.event_id IS NOT NULL) THEN 0
            ELSE p.at_ns - p.previous_at_ns
        END AS time_ns
    FROM pairs AS p
    LEFT JOIN around ON around.node = p.node AND around.is_sought
    LEFT JOIN waits ON waits.rank = p.rank AND waits.event_id = p.event_id
    WHERE p.previous_thread = p.thread
)
SELECT
    e.*,
    CASE
        WHEN e.edge = 'dependency' THEN NULL
        WHEN s.is_loading THEN 'data_loading'
        ELSE 'cpu_bound'
    END::path_bound AS bound_by,
    coalesce(s.is_launch, false) AS is_launch
FROM edges AS e
LEFT JOIN (FROM path_spans WHERE is_launch OR is_loading) AS s
    ON s.rank = e.rank AND s.event_id = e.event_id;
