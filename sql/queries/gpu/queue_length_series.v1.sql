-- How many activities wait in the queue of each stream, after every launch and every start.
--
-- An activity enters the queue of its stream when its launch begins on the host and leaves it when
-- it starts on the device: what runs no longer waits. Activities without a launch count nowhere; a
-- launch of several activities, as of a CUDA graph, lets all of them in at once.
--
--     launches      a  b  c          d
--     activities        [= a =)[b=)[= c =)[d)
--     queue_length  1  21 2    1   0 1    0
--
-- Of points at one instant those of launches come first, then the lower event_id. Selected steps
-- are measured alone: what other steps left in the queue is not in it.
--
-- The length is below 0 only where an activity starts before its launch begins (`is_early_start`),
-- which is to say that the clocks of host and device disagree: it leaves before it enters.
--
-- HTA's get_queue_length_time_series knows a dozen functions that launch, none of them for graphs,
-- and leaves the order within an instant to chance.
--
-- since: 0.1
-- grain: job, rank, device, stream, at_ns, event_id, change
-- returns:
--   job             VARCHAR  -   run of a program
--   rank            INTEGER  -   rank of the process
--   device          BIGINT   -   GPU, as the process numbers it
--   stream          BIGINT   -   stream, as the device numbers it
--   at_ns           BIGINT   ns  when the launch begins or the activity starts
--   event_id        BIGINT   -   the activity
--   change          INTEGER  -   1 when it is launched, -1 when it starts
--   queue_length    BIGINT   -   activities in the queue then
--   launch_id       BIGINT   -   event_id of its launch
--   is_early_start  BOOLEAN  -   whether it starts before its launch begins
-- check: change IN (-1, 1)
-- check: launch_id IS NOT NULL AND is_early_start IS NOT NULL
-- reads: queue_lengths
CREATE OR REPLACE MACRO queue_length_series_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to measure [default: all]
    only_steps BIGINT[] := NULL  -- steps to measure [default: all, also outside steps]
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
