-- Memory allocated and reserved on each device, at every change or in buckets of time.
--
-- The query reads the trace's instants `[memory]`, which the profiler writes with profile_memory.
-- Each instant is one allocation or release. It has the device's totals after the change: bytes
-- allocated to tensors, and bytes that the caching allocator has reserved for tensors.
--
-- If several instants of a device have the same time in ns, the row has the totals of the last one
-- in the file. If the trace does not record totals, allocated_bytes and reserved_bytes are NULL.
-- The query does not estimate them. change_bytes is still known.
--
-- With `bucket_ns`, each bucket in which something changes has one row per device. Buckets are
-- counted from Unix time 0. Each change in a bucket leads to new totals. A row has the largest
-- allocated_bytes and the largest reserved_bytes of these totals. They can come from different
-- changes. If a bucket has no row, nothing changed in it.
--
--     changes             +4  +2  -3                      +1  -4
--     allocated_bytes      4   6   3                       4   0
--     buckets            [=============)[=============)[=============)
--     largest value             6           no row            4
--
-- Memory of the host is device -1, with device_type 0. The host's allocator reserves nothing. An
-- instant belongs to the step in which it lies.
--
-- memory_categories reads another file, the memory timeline that PyTorch exports.
--
-- since: 0.1
-- grain: job, rank, device, device_type, at_ns
-- needs: memory_instants
-- returns:
--   job              VARCHAR  -      run of a program
--   rank             INTEGER  -      rank of the process
--   device           BIGINT   -      GPU, as the process numbers it; -1 for the CPU
--   device_type      BIGINT   -      0 CPU, 1 CUDA, 6 HIP, 12 XPU, 19 MTIA, ...
--   at_ns            BIGINT   ns     time of the change, or start of the bucket
--   allocated_bytes  BIGINT   bytes  in use by tensors; with bucket_ns, the largest value of the
--                                    bucket
--   reserved_bytes   BIGINT   bytes  held by the allocator, in use or not; with bucket_ns, the
--                                    largest value of the bucket
--   change_bytes     BIGINT   bytes  allocated minus released, at this time or in this bucket
--   change_count     BIGINT   count  allocations and releases, at this time or in this bucket
-- check: change_count > 0
-- check: at_ns IS NOT NULL
-- reads: memory_changes, steps
CREATE OR REPLACE MACRO memory_timeline_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to show [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to show [default: all]
    only_steps BIGINT[] := NULL,  -- steps to show [default: the whole trace]
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
        -- Rounds down to a multiple of bucket_ns, also before 1970.
        m.at_ns - CASE
            WHEN bucket_ns > 0
            THEN m.at_ns % bucket_ns + CASE WHEN m.at_ns % bucket_ns < 0 THEN bucket_ns ELSE 0 END
            ELSE 0
        END AS at_ns,
        m.bytes,
        m.allocated_bytes,
        m.reserved_bytes,
        -- The largest value of a bucket counts. Without buckets, the last value at a time counts.
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
    -- This adds no row. It raises an error if bucket_ns is not above 0, with or without data.
    SELECT NULL AS job
    WHERE coalesce(bucket_ns <= 0, false)
      AND error(concat('memory_timeline: bucket_ns is above 0, not ', bucket_ns)) IS NULL
)
ORDER BY job, rank, device, device_type, at_ns;
