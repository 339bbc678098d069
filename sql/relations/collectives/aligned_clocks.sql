-- Each rank's clock against the clock of a reference rank.
--
-- `members` are rows of paired_members. Returns one row per rank in them, with
--
--     reference_rank  the lowest rank that collectives tie to it, directly or through others
--     local_ns        an instant on the rank's own clock
--     reference_ns    the same instant on the reference rank's clock
--     gain            what its clock gains on the reference's, as a share of its own time
--     residual_ns     error of the fit at the ends of collectives: the 95th percentile, times
--                     1 + 3 / sqrt(anchor_count) to allow for few collectives; with fewer than 3,
--                     plus the shortest one's duration
--     anchor_count    number of collectives that this is derived from
--
-- All are NULL for a rank that has no ties. This converts an instant of a rank's clock to the
-- reference rank's clock:
--
--     aligned_ns(at, local_ns, reference_ns, gain)
--
-- clock_ties says which ranks are tied. Each rank takes its clock from the previous rank on the
-- path with the fewest ties from the reference rank. If several paths are equally short, the one
-- with the least residual counts. Residuals along the path add up.
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
-- The lowest rank that can be reached through ties.
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
