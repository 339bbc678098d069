-- Adds the edges of the ranks' windows to job_rank_edges: each with its two nodes (source and
-- target), its time, what bounds this time (bound_by), and the delay from source to target
-- (delay_ns).
--
-- A target comes when the delays of all edges that lead to it are over:
--
--     target = the latest of (source + delay) over its edges
--
-- The formula holds exactly for the recorded times. With the delays of a what-if, it gives the
-- times that would result.
--
-- There are two usual delays. Both are medians over the window of a rank:
--   * after a launch: from the launch to an activity that waited for nothing else
--   * after an activity: from its end to the start of the next activity on its stream, if the next
--     activity had been launched long before
--
-- The trace records only when the target came. The delay of each edge to the target is therefore
-- chosen by these rules:
--   * An edge from outside the window gets the whole time from source to target. So the target
--     keeps its recorded time.
--   * If no edge comes from outside, one edge gets the whole time from source to target: the edge
--     with the latest sum of source and usual delay.
--   * Each other edge with a `why` (launch or stream) gets the usual delay, or the time from source
--     to target if that time is shorter.
--   * Each other edge without a `why` gets the time from the latest source of all edges to the
--     target.
--
-- The sources of these other edges had time to spare. The trace does not record how late they could
-- have come. `why` is launch, stream or outside, and NULL for edges to the host.
--
-- Most edges are the only ones to their targets. The rules give them the whole time from source to
-- target. So the query applies the rules only to targets to which other edges than a thread's lead.
--
--     host     [launch]                        [launch]
--     stream        [a ===============)[b ==)       [c ==)
--
-- In the drawing, a character is a unit of time. The usual delay after a launch is 5, as between
-- the second launch and c. The usual delay after an activity is 1, as from a to b. The launch of b
-- came long before and is not drawn. The edge from b's launch to b gets the usual delay, 5.
INSERT INTO job_rank_edges BY NAME
WITH
-- The edges that do not lead from a node of a thread to the thread's next node.
across AS (
    FROM path_handoffs
    UNION ALL BY NAME
    FROM path_gpu_edges
),
window_ends AS (
    SELECT
        rank,
        max(node) FILTER (is_start) AS first,
        max(node) FILTER (NOT is_start) AS last
    FROM path_nodes
    WHERE event_id IS NULL
    GROUP BY rank
),
-- The training thread continues until the window's end.
last_of_training AS (
    SELECT n.rank, max(n.node) AS node
    FROM path_nodes AS n
    JOIN path_threads AS t ON t.thread = n.thread
    JOIN job_windows AS w ON w.rank = n.rank
    WHERE t.is_training AND n.at_ns <= w.until_ns
    GROUP BY n.rank
),
-- The nodes to which no edge of a thread or of an activity's duration leads.
firsts AS (
    SELECT rank, min(node) AS node
    FROM path_nodes
    WHERE thread IS NOT NULL
    GROUP BY rank, thread
    UNION ALL
    SELECT rank, node
    FROM path_nodes
    WHERE thread IS NULL AND event_id IS NOT NULL AND is_start
),
from_outside AS (
    SELECT w.rank, w.first AS source, a.target, 'order' AS edge, 0 AS time_ns, 'outside' AS why
    FROM across AS a
    JOIN window_ends AS w ON w.rank = a.rank
    WHERE a.source IS NULL
    UNION ALL BY NAME
    SELECT
        w.rank,
        w.first AS source,
        f.node AS target,
        'order' AS edge,
        0 AS time_ns,
        'outside' AS why
    FROM firsts AS f
    ANTI JOIN (FROM across WHERE source IS NOT NULL) AS a ON a.target = f.node
    JOIN window_ends AS w ON w.rank = f.rank
    UNION ALL BY NAME
    SELECT
        w.rank,
        coalesce(t.node, w.first) AS source,
        w.last AS target,
        'order' AS edge,
        0 AS time_ns,
        NULL AS why
    FROM window_ends AS w
    LEFT JOIN last_of_training AS t ON t.rank = w.rank
),
across_with_times AS MATERIALIZED (
    SELECT
        e.rank,
        e.source,
        e.target,
        e.edge::path_edge AS edge,
        e.event_id,
        e.bound_by::path_bound AS bound_by,
        false AS is_launch,
        greatest(e.time_ns, 0)::BIGINT AS time_ns,
        e.why::path_why AS why,
        s.at_ns AS source_ns,
        t.at_ns AS target_ns
    FROM (
        FROM across WHERE source IS NOT NULL
        UNION ALL BY NAME
        FROM from_outside
    ) AS e
    JOIN path_nodes AS s ON s.node = e.source
    JOIN path_nodes AS t ON t.node = e.target
),
usual_launch AS (
    SELECT
        rank,
        coalesce(quantile_disc(time_ns, 0.5) FILTER (edge = 'kernel_launch_delay'), 0) AS launch_ns
    FROM across_with_times
    GROUP BY rank
),
launched AS (
    SELECT e.target, e.source_ns + u.launch_ns AS due_ns
    FROM across_with_times AS e
    JOIN usual_launch AS u ON u.rank = e.rank
    WHERE e.why = 'launch'
),
usual AS (
    SELECT
        e.rank,
        any_value(u.launch_ns) AS launch_ns,
        coalesce(
            quantile_disc(e.time_ns, 0.5) FILTER (
                e.edge = 'kernel_kernel_delay' AND coalesce(l.due_ns <= e.source_ns, true)
            ),
            0
        ) AS stream_ns
    FROM across_with_times AS e
    JOIN usual_launch AS u ON u.rank = e.rank
    LEFT JOIN launched AS l ON l.target = e.target
    GROUP BY e.rank
),
-- All edges to the targets of across_with_times.
expected AS (
    SELECT
        e.*,
        CASE e.why WHEN 'launch' THEN u.launch_ns WHEN 'stream' THEN u.stream_ns ELSE 0 END
            AS usual_ns,
        CASE WHEN e.why IS DISTINCT FROM 'outside' THEN e.source_ns + usual_ns END AS due_ns
    FROM (
        FROM across_with_times
        UNION ALL BY NAME
        FROM path_host_edges AS h
        SEMI JOIN across_with_times AS a ON a.target = h.target
    ) AS e
    JOIN usual AS u ON u.rank = e.rank
),
latest AS (
    SELECT
        target,
        max(due_ns) AS due_ns,
        max(source_ns) FILTER (due_ns IS NOT NULL) AS ready_ns,
        bool_or(due_ns IS NULL) AS is_by_outside
    FROM expected
    GROUP BY target
),
with_delays AS (
    SELECT
        e.* EXCLUDE (usual_ns, due_ns),
        -- If the clocks of host and device disagree a little, delay_ns can be negative.
        CASE
            WHEN e.why = 'outside' OR (e.due_ns = l.due_ns AND NOT l.is_by_outside)
            THEN e.target_ns - e.source_ns
            WHEN e.why IS NOT NULL
            THEN least(e.target_ns - e.source_ns, e.usual_ns)
            ELSE least(e.target_ns - e.source_ns, e.target_ns - l.ready_ns)
        END AS delay_ns
    FROM expected AS e
    JOIN latest AS l ON l.target = e.target
    UNION ALL BY NAME
    SELECT h.*, h.target_ns - h.source_ns AS delay_ns
    FROM path_host_edges AS h
    ANTI JOIN across_with_times AS a ON a.target = h.target
)
SELECT
    row_number() OVER (ORDER BY target, source, edge, why)
        + (SELECT coalesce(max(number), -1) FROM job_rank_edges) AS number,
    * EXCLUDE (source_ns, target_ns)
FROM with_delays;
