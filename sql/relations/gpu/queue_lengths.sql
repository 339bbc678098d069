-- The queue length of a stream after each launch and each start of an activity.
--
-- Returns two rows per activity that has a launch. The row with `change` +1 is at the start of the
-- launch. The row with `change` -1 is at the start of the activity. `queue_length` is the sum of
-- the changes on the stream, up to and including the row. `until_ns` is the instant of the stream's
-- next row, and NULL in the last row. is_early_start is true if, by the clocks of the trace, the
-- activity starts before its launch.
--
-- `jobs`, `ranks` and `steps`: the activities to read, as in activities_of.
--
-- At the same instant, +1 comes before -1, and then the lower event_id comes first. In the other
-- order, a kernel that starts at the instant of its launch would leave the queue before entering.
--
-- reads: gpu_activities
CREATE OR REPLACE MACRO queue_lengths(jobs, ranks, steps) AS TABLE
WITH
-- This CTE is materialized, so that gpu_activities is read only once.
launched AS MATERIALIZED (
    SELECT
        a.job, a.rank, a.device, a.stream, a.event_id, a.launch_id, a.launch_start_ns, a.start_ns
    FROM gpu_activities AS a
    WHERE (jobs IS NULL OR list_contains(jobs, a.job))
      AND (ranks IS NULL OR list_contains(ranks, a.rank))
      AND (steps IS NULL OR list_contains(steps, a.step))
      AND a.launch_id IS NOT NULL
),
-- Each stream gets a number. Sorting by this one number is faster than by its four columns.
streams AS (
    SELECT row_number() OVER (ORDER BY job, rank, device, stream) AS stream_number, *
    FROM (SELECT DISTINCT job, rank, device, stream FROM launched)
),
on_streams AS MATERIALIZED (
    SELECT
        streams.stream_number,
        launched.event_id,
        launched.launch_id,
        launched.launch_start_ns,
        launched.start_ns
    FROM launched
    JOIN streams
        ON streams.job = launched.job
        AND streams.rank = launched.rank
        AND streams.device IS NOT DISTINCT FROM launched.device
        AND streams.stream IS NOT DISTINCT FROM launched.stream
),
points AS (
    SELECT
        stream_number,
        launch_start_ns AS at_ns,
        event_id,
        1 AS change,
        launch_id,
        start_ns < launch_start_ns AS is_early_start
    FROM on_streams
    UNION ALL
    SELECT
        stream_number,
        start_ns AS at_ns,
        event_id,
        -1 AS change,
        launch_id,
        start_ns < launch_start_ns AS is_early_start
    FROM on_streams
),
lengths AS (
    SELECT
        *,
        (sum(change) OVER (in_order ROWS UNBOUNDED PRECEDING))::BIGINT AS queue_length,
        lead(at_ns) OVER in_order AS until_ns
    FROM points
    WINDOW in_order AS (PARTITION BY stream_number ORDER BY at_ns, change DESC, event_id)
)
SELECT
    streams.job,
    streams.rank,
    streams.device,
    streams.stream,
    lengths.stream_number,
    lengths.at_ns,
    lengths.event_id,
    lengths.change,
    lengths.queue_length,
    lengths.until_ns,
    lengths.launch_id,
    lengths.is_early_start
FROM lengths
JOIN streams ON streams.stream_number = lengths.stream_number;
