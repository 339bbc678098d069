-- Queue length of each stream after each launch and each activity start.
--
-- An activity enters the queue of its stream when its launch begins on the host. It leaves the
-- queue when it starts on the device, so a running activity is no longer in the queue. Activities
-- without a launch do not count. If a launch has several activities, as a CUDA graph does, all of
-- them enter the queue at the same time.
--
--     launches      a b   c          d
--     activities        [= a =)[b=)[= c =)[d)
--     queue_length  1 2 1 2    1   0 1    0
--
-- Each activity has two rows: one for its launch and one for its start. At the same instant,
-- launches come before starts, and then the lower event_id comes first. If steps are selected, only
-- their activities count. Activities of other steps that are still in the queue do not count.
--
-- The length is below 0 only if an activity starts before its launch begins (is_early_start). Such
-- an activity leaves the queue before it enters the queue, because the clocks of host and device
-- disagree.
--
-- HTA's get_queue_length_time_series recognises 12 launch functions, none of them for CUDA graphs.
-- If several rows are at the same instant, HTA's order is arbitrary.
--
-- since: 0.1
-- grain: job, rank, device, stream, at_ns, event_id, change
-- needs: launches
-- returns:
--   job             VARCHAR  -   run of a program
--   rank            INTEGER  -   rank of the process
--   device          BIGINT   -   GPU, as the process numbers it
--   stream          BIGINT   -   stream, as the device numbers it
--   at_ns           BIGINT   ns  start of the launch or of the activity
--   event_id        BIGINT   -   event_id of the activity
--   change          INTEGER  -   1 for the launch, -1 for the start of the activity
--   queue_length    BIGINT   -   activities in the queue after this row
--   launch_id       BIGINT   -   event_id of the activity's launch
--   is_early_start  BOOLEAN  -   whether the activity starts before its launch begins
-- check: change IN (-1, 1)
-- check: launch_id IS NOT NULL AND is_early_start IS NOT NULL
-- reads: queue_lengths
CREATE OR REPLACE MACRO queue_length_series_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to measure [default: all]
    only_steps BIGINT[] := NULL  -- steps to measure [default: the whole trace]
) AS TABLE
SELECT
    job,
    rank,
    device,
    stream,
    at_ns,
    event_id,
    change,
    queue_length,
    launch_id,
    is_early_start
FROM queue_lengths(only_jobs, only_ranks, only_steps)
ORDER BY stream_number, at_ns, change DESC, event_id;
