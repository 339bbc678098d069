-- How much memory the allocators of each device held, at every change or in buckets of time.
--
-- From the instants `[memory]` of a profiler that was told to profile memory. Each is one
-- allocation or release, with the device's totals after it: what tensors have allocated, and what
-- the caching allocator has reserved for them. Of several at one nanosecond the last in the file
-- counts. Where the trace does not tell totals they are NULL, not guessed: change_bytes are known.
--
-- With `bucket_ns` there is one row for each bucket in which something changes, counted from Unix
-- time 0, with the largest totals at any change in it, each for itself; also of those that lasted
-- no time. Nothing changes where there is no row.
--
--     changes           +4  +2   -3                 +1  -4
--     allocated_bytes    4   6    3                  4   0
--     bucket_ns         [==============)[===========)[==============)
--     allocated_bytes          6                           4
--
-- The host's own memory is device -1 there, of device_type 0; its allocator reserves nothing. An
-- instant belongs to the step in which it lies.
--
-- HTA has no counterpart: its memory timeline reads another file.
--
-- since: 0.1
-- grain: job, rank, device, device_type, at_ns
-- returns:
--   job              VARCHAR  -      run of a program
--   rank             INTEGER  -      rank of the process
--   device           BIGINT   -      GPU, as the process numbers it; -1 for the CPU
--   device_type      BIGINT   -      0 CPU, 1 CUDA, 6 HIP, 12 XPU, 19 MTIA, ...
--   at_ns            BIGINT   ns     time of the change, or start of the bucket
--   allocated_bytes  BIGINT   bytes  in use by tensors
--   reserved_bytes   BIGINT   bytes  held by the allocator, in use or not
--   change_bytes     BIGINT   bytes  allocated less released, at this time or in this bucket
--   change_count     BIGINT   count  allocations and releases
-- check: change_count > 0
-- check: at_ns IS NOT NULL
-- reads: memory_changes, steps
CREATE OR REPLACE MACRO memory_timeline_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to show [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to show [default: all]
    only_steps BIGINT[] := NULL,  -- steps to show [default: all, also outside steps]
    bucket_ns BIGINT := NULL  -- ns; length of a bucket [default: every change]
) AS TABLE
WITH
marks AS MATERIALIZED (
    SELECT s.job, s.rank, s.event_id, s.step, s.start_ns, s.end_ns
    FROM steps AS s
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, s.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, s.rank))
),
picked AS (
    SELECT
        m.job,
        m.rank,
        m.device,
        m.device_type,
        -- Down to a multiple, also before 1970.
        m.at_ns - CASE
            WHEN bucket_ns > 0
            THEN m.at_ns % bucket_ns + CASE WHEN m.at_ns % bucket_ns < 0 THEN bucket_ns ELSE 0 END
            ELSE 0
        END AS at_ns,
        m.bytes,
        m.allocated_bytes,
        m.reserved_bytes,
        -- Of a bucket the largest counts, of an instant the last.
        CASE WHEN bucket_ns > 0 THEN m.allocated_bytes ELSE m.event_id END AS allocated_order,
        CASE WHEN bucket_ns > 0 THEN m.reserved_bytes ELSE m.event_id END AS reserved_order
    FROM memory_changes(marks, only_jobs, only_ranks, only_steps) AS m
)
SELECT *
FROM (
    SELECT
        job,
        rank,
        device,
        device_type,
        at_ns,
        arg_max(allocated_bytes, allocated_order) AS allocated_bytes,
        arg_max(reserved_bytes, reserved_order) AS reserved_bytes,
        TRY_CAST(sum(bytes) AS BIGINT) AS change_bytes,
        count(*) AS change_count
    FROM picked
    GROUP BY job, rank, device, device_type, at_ns
    UNION ALL BY NAME
    -- No row, but an error where a bucket has no length, whether or not there is data.
    SELECT NULL AS job
    WHERE coalesce(bucket_ns <= 0, false)
      AND error(concat('memory_timeline: bucket_ns is above 0, not ', bucket_ns)) IS NULL
)
ORDER BY job, rank, device, device_type, at_ns;
