-- One row per operation of `tree`: the totals of everything that the operation called, on any
-- thread.
--
-- `tree`: rank_number, event_id, parent_id and level of the operations.
-- `activities`: rank_number, launch_id and dur_ns of the GPU activities.
-- `places`: rank_number and event_id of the operations whose call stacks are wanted.
-- `forward_places`: rank_number and event_id of their forward operators.
--
-- Returns rank_number, event_id, parent_id, level and:
--
--     height         1 if the operation called no other; otherwise 1 more than the
--                    largest height of the operations that it called
--     kernel_count   number of activities launched in the operation, at any depth
--     kernel_ns      sum of the durations of these activities
--     is_forward     whether the operation is one of `forward_places`
--     holds_place    whether the operation is, or called, one of `places`
--     holds_forward  whether the operation is, or called, one of `forward_places`
CREATE OR REPLACE MACRO stack_totals(tree, activities, places, forward_places) AS TABLE
WITH RECURSIVE
launches AS (
    SELECT
        rank_number,
        launch_id,
        count(*) AS activity_count,
        sum(dur_ns) AS activity_ns
    FROM query_table(activities)
    GROUP BY rank_number, launch_id
),
measured AS MATERIALIZED (
    SELECT
        tree.*,
        coalesce(launches.activity_count, 0) AS activity_count,
        coalesce(launches.activity_ns, 0) AS activity_ns,
        places.event_id IS NOT NULL AS is_place,
        forward_places.event_id IS NOT NULL AS is_forward
    FROM query_table(tree) AS tree
    LEFT JOIN launches
        ON launches.rank_number = tree.rank_number AND launches.launch_id = tree.event_id
    LEFT JOIN query_table(places) AS places
        ON places.rank_number = tree.rank_number AND places.event_id = tree.event_id
    LEFT JOIN query_table(forward_places) AS forward_places
        ON forward_places.rank_number = tree.rank_number
        AND forward_places.event_id = tree.event_id
),
-- The deepest level comes first. Each further level is computed from the level below it.
totals AS (
    SELECT
        m.rank_number,
        m.event_id,
        m.parent_id,
        m.level,
        1::BIGINT AS height,
        m.activity_count::HUGEINT AS kernel_count,
        m.activity_ns::HUGEINT AS kernel_ns,
        m.is_forward,
        m.is_place AS holds_place,
        m.is_forward AS holds_forward
    FROM measured AS m
    JOIN (SELECT max(level) AS level FROM measured) AS deepest ON deepest.level = m.level
    UNION ALL
    SELECT
        m.rank_number,
        m.event_id,
        m.parent_id,
        m.level,
        1 + coalesce(callees.height, 0) AS height,
        m.activity_count + coalesce(callees.kernel_count, 0) AS kernel_count,
        m.activity_ns + coalesce(callees.kernel_ns, 0) AS kernel_ns,
        m.is_forward,
        m.is_place OR coalesce(callees.holds_place, false) AS holds_place,
        m.is_forward OR coalesce(callees.holds_forward, false) AS holds_forward
    FROM (SELECT DISTINCT level - 1 AS level FROM totals) AS above
    JOIN measured AS m ON m.level = above.level
    LEFT JOIN (
        SELECT
            rank_number,
            parent_id,
            max(height) AS height,
            sum(kernel_count) AS kernel_count,
            sum(kernel_ns) AS kernel_ns,
            bool_or(holds_place) AS holds_place,
            bool_or(holds_forward) AS holds_forward
        FROM totals
        GROUP BY rank_number, parent_id
    ) AS callees
        ON callees.rank_number = m.rank_number AND callees.parent_id = m.event_id
)
FROM totals;
