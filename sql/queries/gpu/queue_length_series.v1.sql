-- Queue length of each stream after every launch and every activity start.
--
-- An activity enters the queue of its stream when its launch begins on the host. It leaves when it
-- starts on the device: a running activity is no longer in the queue. Activities without a launch
-- do not count. If a launch has several activities, as a CUDA graph does, they all enter at the
-- same time.
--
--     launches      a  b  c          d
--     activities        [= a =)[b=)[= c =)[d)
--     queue_length  1  21 2    1   0 1    0
--
-- Among points at the same instant, launches come first, then the lower event_id. If steps are
-- selected, only their activities count. Activities that other steps left in the queue do not.
--
-- The length is below 0 only if an activity starts before its launch begins (`is_early_start`) and
-- so leaves the queue before it enters. The clocks of host and device then disagree.
--
-- HTA's get_queue_length_time_series recognises a dozen launch functions, none of them for CUDA
-- graphs. Its order of points at the same instant is arbitrary.
--
-- since: 0.1
-- grain: job, rank, device, stream, at_ns, event_id, change
-- returns:
--   job             VARCHAR  -   run of a program
--   rank            INTEGER  -   rank of the process
--   device          BIGINT   -   GPU, as the process numbers it
--   stream          BIGINT   -   stream, as the device numbers it
--   at_ns           BIGINT   ns  start of the launch or of the activity
--   event_id        BIGINT   -   event_id of the activity
--   change          INTEGER  -   1 for the launch, -1 for the start of the activity
--   queue_length    BIGINT   -   activities in the queue from then on
--   launch_id       BIGINT   -   event_id of its launch
--   is_early_start  BOOLEAN  -   whether the activity starts before its launch begins
-- check: change IN (-1, 1)
-- check: launch_id IS NOT NULL AND is_early_start IS NOT NULL
-- reads: queue_lengths
CREATE OR REPLACE MACRO queue_length_series_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to measure [default: all]
    only_steps BIGINT[] := NULL  -- steps to measure [default: all, inside and outside steps]
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
