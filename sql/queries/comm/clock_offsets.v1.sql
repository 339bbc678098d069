-- Clock offset, drift and error of each rank against a reference rank.
--
-- All members of an all-reduce, all-gather, reduce-scatter, all-to-all or barrier leave it at the
-- same moment. If two ranks record different times for this moment, the difference is the offset
-- between their clocks:
--
--     rank 0's clock    [=====)        [=====)         [=====)
--     rank 1's clock      [======)       [======)        [======)
--                            >--<           >--<            >---<
--                           offset         offset       offset + drift
--
-- The offset is a median of these differences, and the drift is a median of slopes (Theil and Sen).
-- So a few collectives that ranks leave at very different times do not change the result.
-- The drift is 0 if it cannot be distinguished from noise.
--
-- Collectives connect ranks, directly or through other ranks. In each set of connected ranks, the
-- lowest rank is the reference rank. These formulas convert start_ns, a time on the rank's clock,
-- to aligned_ns, the time on the reference rank's clock:
--
--     rough_ns = start_ns - offset_ns
--     aligned_ns = rough_ns - (rough_ns - reference_ns) * drift_ppm / 1e6
--
-- residual_ns is the error that remains after this correction: in 95 of 100 collectives, the
-- kernels of the rank and of its reference rank end at most residual_ns apart. residual_ns includes
-- a margin, which is larger if fewer collectives connect the ranks. If a rank leaves every
-- collective late by the same time, this delay looks like an offset, and residual_ns does not show
-- it.
--
-- Each rank of a job has one row. The query leaves out jobs with only one rank, and jobs without
-- any collective or message. Offsets are always measured with all ranks of the job; only_ranks
-- chooses which rows you see.
--
-- HTA does not measure offsets. HTA assumes that the clocks of all ranks are equal.
--
-- since: 0.1
-- grain: job, rank
-- needs: collectives, ranks
-- returns:
--   job             VARCHAR  -      run of a program
--   rank            INTEGER  -      rank of the process
--   offset_ns       BIGINT   ns     time by which the rank's clock is ahead of the reference rank's
--                                   clock at reference_ns; NULL if no collective connects the rank
--                                   to another rank
--   drift_ppm       DOUBLE   ppm    time that the rank's clock gains on the reference rank's clock,
--                                   in parts per million
--   residual_ns     BIGINT   ns     error of the offset and drift, as above
--   anchor_count    BIGINT   count  collectives from which the offset is measured, at most 1000; 0
--                                   for the reference rank
--   reference_rank  INTEGER  -      rank whose clock is the reference; NULL if offset_ns is NULL
--   reference_ns    BIGINT   ns     start of the reference rank's trace, on its own clock
--   host            VARCHAR  -      machine of the rank; ranks of one machine should have the same
--                                   offset
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
-- A rank may have several files. The query uses their earliest start, and the host that is first
-- in alphabetical order.
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
