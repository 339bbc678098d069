-- How long each stream's queue was full, so that the host had to wait.
--
-- queue_length_series defines the queue length. A CUDA queue holds about 1024 activities. When
-- it is full, the next launch blocks until an activity starts. A launch that blocks counts in the
-- queue length from its start, so the length can exceed max_queue_length.
--
--     launches      a b c
--     activities          [a)       [b)       [c)
--     queue_length  1 2 3 2         1         0
--     full            xxxxxxxxxxxxxx    max_queue_length 2, full_ns 14
--
-- Every stream with a launched activity has a row. For most streams full_ns is 0. full_frac is a
-- share of the length of the rank's whole trace, even if only some steps are selected. The trace
-- runs from the first start to the last end of its events.
--
-- HTA's get_time_spent_blocked_on_full_queue reports only one stream per rank: of the streams whose
-- queue was ever full, the one with the highest number. HTA divides by the time from the first
-- event's start to the last event's start.
--
-- since: 0.1
-- grain: job, rank, device, stream
-- needs: launches
-- returns:
--   job        VARCHAR  -    run of a program
--   rank       INTEGER  -    rank of the process
--   device     BIGINT   -    GPU, as the process numbers it
--   stream     BIGINT   -    stream, as the device numbers it
--   full_ns    BIGINT   ns   time with at least max_queue_length activities in the queue
--   full_frac  DOUBLE   0-1  full_ns / length of the trace; NULL if the length is 0 or unknown
-- check: full_ns >= 0
-- check: full_frac BETWEEN 0 AND 1
-- reads: queue_lengths, traces
CREATE OR REPLACE MACRO queue_full_time_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to measure [default: all]
    only_steps BIGINT[] := NULL,  -- steps to measure [default: the whole trace]
    max_queue_length INTEGER := 1024  -- number of activities that fill the queue
) AS TABLE
WITH
full_times AS (
    SELECT
        job,
        rank,
        device,
        stream,
        coalesce(
            sum(until_ns - at_ns) FILTER (queue_length >= max_queue_length), 0
        )::BIGINT AS full_ns
    FROM queue_lengths(only_jobs, only_ranks, only_steps)
    GROUP BY job, rank, device, stream
)
SELECT
    full_times.job,
    full_times.rank,
    full_times.device,
    full_times.stream,
    full_times.full_ns,
    full_times.full_ns / nullif(t.end_ns - t.start_ns, 0) AS full_frac
FROM full_times
LEFT JOIN traces AS t ON t.job = full_times.job AND t.rank = full_times.rank
ORDER BY full_times.job, full_times.rank, full_times.device, full_times.stream;
