-- How busy every rank was, time bucket by time bucket, on aligned clocks.
--
-- The table behind a picture with a row for each rank and a column for each bucket. Of each bucket,
-- busy_frac is the share in which activities of the kind ran, on any device and stream of the rank;
-- an instant with several counts once. `busy` is any kind. Ranks are moved onto the clock of their
-- reference rank, as clock_offsets tells it; one whose clock is not known stays where it is.
--
-- Every rank and kind that the job has is there with every bucket, 0 included. HTA has no
-- counterpart.
--
-- since: 0.1
-- grain: job, rank, kind, bucket
-- returns:
--   job            VARCHAR  -      run of a program
--   rank           INTEGER  -      rank of the process
--   kind           VARCHAR  -      computation, communication, memory or busy
--   bucket         BIGINT   -      0, 1, ... from the first activity of the job's selected ranks on
--   start_ns       BIGINT   ns     start of the bucket, on the reference rank's clock
--   from_start_ns  BIGINT   ns     the same from the first activity on
--   length_ns      BIGINT   ns     of the bucket; the last one may reach past the last activity
--   busy_ns        BIGINT   ns     time with activities of the kind
--   busy_frac      DOUBLE   0-1    busy_ns / length_ns
-- check: busy_ns BETWEEN 0 AND length_ns
-- check: from_start_ns = bucket * length_ns
-- reads: aligned_activities, busy_buckets, rank_clocks
CREATE OR REPLACE MACRO heatmap_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to measure [default: all]
    only_steps BIGINT[] := NULL,  -- steps to measure [default: all, also outside steps]
    bucket_count BIGINT := 100  -- into how many buckets a job's time is cut
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
