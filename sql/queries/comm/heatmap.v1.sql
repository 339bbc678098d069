-- Busy share of each rank in each time bucket, on aligned clocks.
--
-- The result can be drawn as a picture with one row per rank and one column per bucket. busy_frac
-- is the share of the bucket in which at least one GPU activity of the kind runs, on any device and
-- stream of the rank. If several activities run at the same time, this time counts once. The kind
-- `busy` stands for activities of any kind.
--
-- Times are converted to the clock of the rank's reference rank, as in clock_offsets. If a rank's
-- clock is not aligned, its times stay on its own clock.
--
-- Each rank with selected activities has one row per bucket for `busy`, and one row per bucket for
-- each kind of activity in the job, even if its busy time is 0.
--
-- since: 0.1
-- grain: job, rank, kind, bucket
-- needs: gpu_activities
-- returns:
--   job            VARCHAR  -      run of a program
--   rank           INTEGER  -      rank of the process
--   kind           VARCHAR  -      computation, communication, memory or busy
--   bucket         BIGINT   -      number of the bucket; bucket 0 begins at the start of the job's
--                                  first selected activity
--   start_ns       BIGINT   ns     start of the bucket, on the reference rank's clock
--   from_start_ns  BIGINT   ns     start of the bucket, counted from the start of the job's first
--                                  selected activity
--   length_ns      BIGINT   ns     length of the bucket; the last buckets may reach past the end of
--                                  the last activity
--   busy_ns        BIGINT   ns     time in the bucket with activities of the kind on the rank
--   busy_frac      DOUBLE   0-1    busy_ns / length_ns
-- check: busy_ns BETWEEN 0 AND length_ns
-- check: from_start_ns = bucket * length_ns
-- reads: aligned_activities, busy_buckets, rank_clocks
CREATE OR REPLACE MACRO heatmap_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to measure [default: all]
    only_steps BIGINT[] := NULL,  -- steps to measure [default: the whole trace]
    bucket_count BIGINT := 100  -- number of buckets per job
) AS TABLE
WITH
clocks AS MATERIALIZED (
    FROM rank_clocks(only_jobs)
),
activities AS MATERIALIZED (
    FROM aligned_activities(clocks, only_jobs, only_ranks, only_steps)
)
SELECT job, rank, kind, bucket, start_ns, from_start_ns, length_ns, busy_ns, busy_frac
FROM busy_buckets(activities, bucket_count)
ORDER BY job, rank, kind, bucket;
