-- One row per rank of `members`: how the rank's clock differs from the clock of a reference rank.
--
-- `members`: rows of paired_members: one per rank's call of a collective or message
--
-- A tie is a row of clock_ties: the difference between the clocks of two ranks. A path of ties
-- leads from the reference rank to each other rank, over as few ties as possible. Each rank's clock
-- follows from the clock of the previous rank on its path. If several paths are equally short, the
-- path with the least residual_ns counts.
--
-- Returns job, rank, and these columns, which are NULL for a rank that has no ties:
--
--     reference_rank  the lowest rank that ties connect with this rank, directly or through other
--                     ranks; the rank itself if it is the lowest
--     local_ns        an instant on the rank's own clock
--     reference_ns    the same instant on the reference rank's clock
--     gain            the time that the rank's clock gains on the reference rank's clock, divided
--                     by the time that passes on the rank's clock
--     residual_ns     sum of the errors of the ties on the path
--     anchor_count    number of collectives from which the last tie on the path is computed; 0 for
--                     the reference rank
--
-- The error of a tie is computed from the collectives of the tie. For each collective, the tie
-- predicts when the collective ends on one rank, given its end on the other rank. The error is the
-- 95th percentile of the differences between predicted and recorded ends, times 1 + 3 /
-- sqrt(anchor_count). The factor allows for few collectives. If a tie has fewer than 3 collectives,
-- the shortest transfer_ns of these collectives is added to the error.
--
-- This call converts an instant of the rank's clock to the reference rank's clock:
--
--     aligned_ns(at_ns, local_ns, reference_ns, gain)
--
-- reads: clock_ties
CREATE OR REPLACE MACRO aligned_clocks(members) AS TABLE
WITH
ties AS MATERIALIZED (
    FROM clock_ties(members)
),
ranks AS MATERIALIZED (
    SELECT DISTINCT job, rank
    FROM query_table(members)
),
-- The lowest rank that each rank can reach through ties.
reach (job, rank, reference_rank) AS (
    WITH RECURSIVE reached (job, rank, reference_rank) USING KEY (job, rank) AS (
        SELECT job, rank, rank AS reference_rank
        FROM ranks
        UNION ALL
        SELECT t.job, t.rank, min(r.reference_rank) AS reference_rank
        FROM reached AS r
        JOIN ties AS t ON t.job = r.job AND t.other = r.rank
        JOIN recurring.reached AS known ON known.job = t.job AND known.rank = t.rank
        WHERE r.reference_rank < known.reference_rank
        GROUP BY t.job, t.rank
    )
    FROM reached
),
clocks AS (
    WITH RECURSIVE known (
        job, rank, reference_rank, local_ns, reference_ns, gain, residual_ns, anchor_count
    ) USING KEY (job, rank) AS (
        SELECT
            job,
            rank,
            reference_rank,
            0::BIGINT AS local_ns,
            0::BIGINT AS reference_ns,
            0::DOUBLE AS gain,
            0::BIGINT AS residual_ns,
            0::BIGINT AS anchor_count
        FROM reach
        WHERE rank = reference_rank AND rank IN (SELECT other FROM ties WHERE ties.job = reach.job)
        UNION ALL
        SELECT job, rank, best.reference_rank, best.local_ns, best.reference_ns, best.gain,
            best.residual_ns, best.anchor_count
        FROM (
            SELECT
                t.job,
                t.rank,
                min({
                    'residual_ns': k.residual_ns + t.residual_ns,
                    'other': t.other,
                    'anchor_count': t.anchor_count,
                    'reference_rank': k.reference_rank,
                    'local_ns': t.local_ns,
                    'reference_ns': k.reference_ns + (t.other_ns - k.local_ns)
                        - round((t.other_ns - k.local_ns) * k.gain)::BIGINT,
                    'gain': t.gain + k.gain - t.gain * k.gain
                }) AS best
            FROM known AS k
            JOIN ties AS t ON t.job = k.job AND t.other = k.rank
            WHERE NOT EXISTS (
                FROM recurring.known AS earlier
                WHERE earlier.job = t.job AND earlier.rank = t.rank
            )
            GROUP BY t.job, t.rank
        )
    )
    FROM known
)
SELECT
    ranks.job,
    ranks.rank,
    clocks.reference_rank,
    clocks.local_ns,
    clocks.reference_ns,
    clocks.gain,
    clocks.residual_ns,
    clocks.anchor_count
FROM ranks
LEFT JOIN clocks ON clocks.job = ranks.job AND clocks.rank = ranks.rank;
