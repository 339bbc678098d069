-- How many activities are in the queue of their stream, after each launch and each start.
--
-- Needs job, rank, device, stream, event_id, launch_id, launch_start_ns and start_ns. Gives two
-- points for each activity with a launch, +1 where its launch begins and -1 where it starts itself,
-- with the sum up to and including the point, and the instant of the stream's next point, NULL
-- after the last. Of points at one instant the +1 come first, then the lower event_id; with the
-- other order, a kernel that starts the instant it is launched would count as started unlaunched.
CREATE OR REPLACE MACRO queue_lengths(activities) AS TABLE
WITH
-- Materialized, for each activity is needed twice and shall be read once.
launched AS MATERIALIZED (
    SELECT job, rank, device, stream, event_id, launch_id, launch_start_ns, start_ns
    FROM query_table(activities)
    WHERE launch_id IS NOT NULL
),
points AS (
    SELECT
        job,
        rank,
        device,
        stream,
        launch_start_ns AS at_ns,
        event_id,
        1 AS change,
        launch_id,
        start_ns < launch_start_ns AS is_early_start
    FROM launched
    UNION ALL
    SELECT
        job,
        rank,
        device,
        stream,
        start_ns AS at_ns,
        event_id,
        -1 AS change,
        launch_id,
        start_ns < launch_start_ns AS is_early_start
    FROM launched
)
SELECT
    job,
    rank,
    device,
    stream,
    at_ns,
    event_id,
    change,
    (sum(change) OVER (in_order ROWS UNBOUNDED PRECEDING))::BIGINT AS queue_length,
    lead(at_ns) OVER in_order AS until_ns,
    launch_id,
    is_early_start
FROM points
WINDOW in_order AS (
    PARTITION BY job, rank, device, stream ORDER BY at_ns, change DESC, event_id
);
