-- How far each rank's clock is from that of a reference rank, how it drifts, and how sure that is.
--
-- All members of an all-reduce, all-gather, reduce-scatter, all-to-all or barrier leave it
-- together. So the ends of one on two ranks are one instant on two clocks:
--
--     rank 0's clock    [=====)        [=====)         [=====)
--     rank 1's clock      [======)       [======)        [======)
--                            >--<           >--<            >---<      offset, and a drift
--
-- Offsets are medians and drifts medians of slopes (Theil and Sen), so that some collectives that
-- end in disorder do no harm. The reference rank is the lowest that collectives tie to the rank,
-- directly or through others; a drift that cannot be told from noise is 0. An instant of a rank's
-- clock is on the reference rank's
--
--     start_ns - offset_ns - (start_ns - offset_ns - reference_ns) * drift_ppm / 1e6
--
-- residual_ns is what is left over: ends of collectives, moved so, are that close to each other,
-- but for 5 of 100; more is added the fewer they are. A delay that is the same in every collective
-- looks like an offset and is not in it.
--
-- A row for every rank of jobs with collectives of two traces or more; offsets are measured with
-- all ranks, whichever are selected. HTA takes clocks for equal.
--
-- since: 0.1
-- grain: job, rank
-- returns:
--   job             VARCHAR  -      run of a program
--   rank            INTEGER  -      rank of the process
--   offset_ns       BIGINT   ns     by which its clock is ahead, at reference_ns; NULL where
--                                   nothing ties the rank to another
--   drift_ppm       DOUBLE   ppm    what it gains, in millionths
--   residual_ns     BIGINT   ns     how well that fits
--   anchor_count    BIGINT   count  collectives by which it is known, at most 1000; 0 for the
--                                   reference rank
--   reference_rank  INTEGER  -      whose clock it is held against
--   reference_ns    BIGINT   ns     on that clock: when the reference rank's trace begins
--   host            VARCHAR  -      machine of the rank; ranks of one machine should agree
-- check: (offset_ns IS NULL) = (reference_rank IS NULL)
-- check: (offset_ns IS NULL) = (drift_ppm IS NULL)
-- check: residual_ns >= 0
-- check: reference_rank <= rank
-- check: rank <> reference_rank OR (offset_ns = 0 AND drift_ppm = 0 AND residual_ns = 0)
-- reads: aligned_clocks, paired_members, traces
CREATE OR REPLACE MACRO clock_offsets_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to report [default: all]
    only_ranks INTEGER[] := NULL  -- ranks to report [default: all]
) AS TABLE
WITH
members AS MATERIALIZED (
    FROM paired_members(only_jobs)
),
clocks AS (
    FROM aligned_clocks(members)
),
first_calls AS (
    SELECT job, rank, min(start_ns) AS start_ns
    FROM members
    GROUP BY job, rank
),
-- Of several files of a rank the first.
told AS (
    SELECT t.job, t.rank, min(t.start_ns) AS start_ns, min(t.host) AS host
    FROM traces AS t
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, t.job))
    GROUP BY t.job, t.rank
),
ranks AS (
    SELECT
        job,
        rank,
        coalesce(t.start_ns, f.start_ns) AS start_ns,
        t.host
    FROM first_calls AS f
    FULL JOIN told AS t USING (job, rank)
    QUALIFY count(*) OVER (PARTITION BY job) > 1 AND count(f.start_ns) OVER (PARTITION BY job) > 0
)
SELECT
    r.job,
    r.rank,
    c.local_ns - c.reference_ns
        + round((reference.start_ns - c.reference_ns) * c.gain / (1 - c.gain))::BIGINT
        AS offset_ns,
    1e6 * c.gain / (1 - c.gain) AS drift_ppm,
    c.residual_ns,
    c.anchor_count,
    c.reference_rank,
    reference.start_ns AS reference_ns,
    r.host
FROM ranks AS r
LEFT JOIN clocks AS c ON c.job = r.job AND c.rank = r.rank
LEFT JOIN ranks AS reference ON reference.job = c.job AND reference.rank = c.reference_rank
WHERE (only_ranks IS NULL OR list_contains(only_ranks, r.rank))
ORDER BY r.job, r.rank;
