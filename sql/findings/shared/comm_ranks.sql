-- What communication costs each rank, and what the job gains without it, per step or in the trace.
--
-- `comm_kinds`: rows of shared_comm_kinds.
--
-- Returns one row per job and rank with the sums of exposed_ns, waited_ns, moved_ns, slow_ns and
-- small_ns, as in comm_kinds, and
--
--     slow_gain_ns   time by which a step of the job gets shorter without slow_ns
--     small_gain_ns  the same without small_ns
--
-- Ranks that need less time for something wait longer for the others. So if rank r saves s(r), a
-- step gets shorter by
--
--     min(waited_ns(r) + s(r)) - min(waited_ns(r))      both over all ranks r of the job
CREATE OR REPLACE MACRO shared_comm_ranks(comm_kinds) AS TABLE
WITH
sums AS (
    SELECT
        job,
        rank,
        sum(exposed_ns)::BIGINT AS exposed_ns,
        sum(waited_ns)::BIGINT AS waited_ns,
        sum(moved_ns)::BIGINT AS moved_ns,
        sum(slow_ns)::BIGINT AS slow_ns,
        sum(small_ns)::BIGINT AS small_ns
    FROM query_table(comm_kinds)
    GROUP BY job, rank
)
SELECT
    *,
    min(waited_ns + slow_ns) OVER of_job - min(waited_ns) OVER of_job AS slow_gain_ns,
    min(waited_ns + small_ns) OVER of_job - min(waited_ns) OVER of_job AS small_gain_ns
FROM sums
WINDOW of_job AS (PARTITION BY job);
