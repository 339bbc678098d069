-- One row per edge from a thread that has stopped to the thread that continues.
--
-- The threads are the training thread and autograd's threads. The training thread waits while
-- autograd's threads run a backward pass. Autograd's threads wait for the next backward pass.
--
-- If an outermost span ends on one of these threads, and the next outermost span begins on another
-- of these threads, the query assumes that the other thread has waited. The edge between the two
-- spans is a `dependency`, which takes no time.
--
--     training     [== loss ==)                        [== optimizer ==)
--     autograd                 [== AddmmBackward0 ==)
--     edges                   -|                     -|
--
-- The drawing has two edges: loss to AddmmBackward0, and AddmmBackward0 to optimizer.
CREATE OR REPLACE TEMP TABLE path_handoffs AS
WITH
levels AS (
    SELECT
        node,
        rank,
        thread,
        is_start,
        at_ns,
        sum(CASE WHEN is_start THEN 1 ELSE -1 END) OVER (ORDER BY node) AS level
    FROM path_nodes
    WHERE thread IS NOT NULL
),
outermost AS (
    SELECT
        node,
        rank,
        thread,
        is_start,
        lag(node) OVER in_order AS previous,
        lag(thread) OVER in_order AS previous_thread,
        lag(is_start) OVER in_order AS is_previous_start
    FROM levels
    WHERE thread IN (SELECT thread FROM path_threads WHERE is_training OR is_autograd)
      AND level = CASE WHEN is_start THEN 1 ELSE 0 END
    WINDOW in_order AS (PARTITION BY rank ORDER BY at_ns, is_start, node)
)
SELECT
    rank,
    previous AS source,
    node AS target,
    'dependency' AS edge,
    NULL::BIGINT AS event_id,
    0::BIGINT AS time_ns
FROM outermost
WHERE is_start AND NOT is_previous_start AND previous_thread <> thread;
