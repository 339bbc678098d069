-- Clock offset, drift and error of each rank against a reference rank.
--
-- All members of an all-reduce, all-gather, reduce-scatter, all-to-all or barrier leave it
-- together. The ends of one collective on two ranks are therefore one instant on two clocks:
--
--     rank 0's clock    [=====)        [=====)         [=====)
--     rank 1's clock      [======)       [======)        [======)
--                            >--<           >--<            >---<      offset, and a drift
--
-- The offset is a median, and the drift is a median of slopes (Theil and Sen). A few collectives
-- that end in disorder therefore do no harm. A drift that cannot be distinguished from noise is 0.
-- The reference rank is the lowest rank that collectives connect to this rank, directly or through
-- other ranks. An instant start_ns of a rank's clock is, on the reference rank's clock,
--
--     start_ns - offset_ns - (start_ns - offset_ns - reference_ns) * drift_ppm / 1e6
--
-- residual_ns is the error that remains. After the correction, the ends of 95 in 100 collectives
-- are at most residual_ns apart. The fewer the collectives, the larger the margin that is added. A
-- delay of a rank's ends that is the same in every collective looks like an offset; residual_ns
-- does not include it.
--
-- Each job with two ranks or more and a collective or message has one row per rank. Offsets are
-- measured with all ranks, whichever are selected. HTA assumes that all clocks are equal.
--
-- since: 0.1
-- grain: job, rank
-- returns:
--   job             VARCHAR  -      run of a program
--   rank            INTEGER  -      rank of the process
--   offset_ns       BIGINT   ns     how far the clock is ahead at reference_ns; NULL if nothing
--                                   connects the rank to another rank
--   drift_ppm       DOUBLE   ppm    how much the clock gains, in parts per million
--   residual_ns     BIGINT   ns     error of the offset and drift
--   anchor_count    BIGINT   count  collectives that the offset is measured from, at most 1000; 0
--                                   for the reference rank
--   reference_rank  INTEGER  -      rank whose clock is the reference
--   reference_ns    BIGINT   ns     start of the reference rank's trace, on its own clock
--   host            VARCHAR  -      machine of the rank; offsets of one machine's ranks should
--                                   agree
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
-- A rank may have several files: the earliest start and the first host by name count.
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
