-- What each rank's clock shows, against the clock of a reference rank.
--
-- `members` are rows of paired_members. Gives one row for each rank of theirs:
--
--     reference_rank  the lowest rank that collectives tie to it, directly or through others
--     local_ns        an instant on its own clock, and
--     reference_ns    the same one on the reference rank's
--     gain            what it gains on the reference's clock, as a share of its own time
--     residual_ns     how far off the ends of collectives are at most, but for 5 of 100; and for
--                     what few of them leave open, three times that over the root of their
--                     number
--     anchor_count    collectives of which this is known
--
-- All NULL for a rank that nothing ties. An instant of a rank's clock is, on the reference's,
--
--     aligned_ns(at, local_ns, reference_ns, gain)
--
-- What ties two clocks is that all members of an all-reduce, all-gather, reduce-scatter, all-to-all
-- or barrier leave it together, once the last one has come. In each group, the ends on the
-- rank with most of them, the hub, are held against those on each other member:
--
--     apart        end on the member less end on the hub, of up to 1000 collectives spread evenly
--     gain         median of the slopes between collectives half of the window apart (Theil and
--                  Sen); 0 where there are less than 8, where it does not halve what is left over,
--                  so is hardly to be seen, and where it is 1 % or more: no clock drifts so, but
--                  ends in disorder look like it. So aligned instants keep a rank's order
--     local_ns     by the median of what is left
--
-- Medians do not mind if some collectives end in disorder. Collectives of less than 20 us, whose
-- ends may be as far apart as they are long, count where a group has no eight longer ones. From the
-- reference rank outwards, each rank takes the clock of the hub or member before it on the way with
-- fewest ties, and of equally few on that with the least residual; residuals on the way add up.
CREATE OR REPLACE MACRO aligned_ns(at_ns, local_ns, reference_ns, gain) AS
reference_ns + (at_ns - local_ns) - round((at_ns - local_ns) * gain)::BIGINT;

CREATE OR REPLACE MACRO aligned_clocks(members) AS TABLE
WITH
anchors AS NOT MATERIALIZED (
    SELECT job, group_id, collective_id, rank, end_ns, transfer_ns
    FROM query_table(members)
    WHERE ends_together AND member_count > 1
),
hubs AS (
    SELECT job, group_id, min({'calls': -call_count, 'rank': rank}).rank AS hub
    FROM (
        SELECT job, group_id, rank, count(*) AS call_count
        FROM anchors
        GROUP BY job, group_id, rank
    )
    GROUP BY job, group_id
),
at_hubs AS (
    SELECT a.*
    FROM anchors AS a
    JOIN hubs ON hubs.job = a.job AND hubs.group_id = a.group_id AND hubs.hub = a.rank
),
lengths AS (
    SELECT job, group_id, count(*) FILTER (transfer_ns >= 20000) AS long_count
    FROM at_hubs
    GROUP BY job, group_id
),
spread AS (
    SELECT
        a.*,
        row_number() OVER (PARTITION BY a.job, a.group_id ORDER BY a.end_ns, a.collective_id)
            AS place,
        count(*) OVER (PARTITION BY a.job, a.group_id) AS place_count
    FROM at_hubs AS a
    JOIN lengths AS l ON l.job = a.job AND l.group_id = a.group_id
    WHERE a.transfer_ns >= 20000 OR l.long_count < 8
),
chosen AS (
    SELECT job, group_id, collective_id, rank AS hub, end_ns AS hub_end_ns
    FROM spread
    WHERE place % ((place_count + 999) // 1000) = 0
),
-- The hub's own among them, which is apart from itself by nothing.
ends AS MATERIALIZED (
    SELECT
        c.job,
        c.group_id,
        c.hub,
        a.rank,
        c.hub_end_ns,
        a.transfer_ns,
        a.end_ns - c.hub_end_ns AS apart_ns,
        row_number() OVER (
            PARTITION BY c.job, c.group_id, a.rank ORDER BY c.hub_end_ns, c.collective_id
        ) AS place,
        count(*) OVER (PARTITION BY c.job, c.group_id, a.rank) AS anchor_count
    FROM chosen AS c
    JOIN anchors AS a ON a.job = c.job AND a.collective_id = c.collective_id
),
slopes AS (
    SELECT
        a.job,
        a.group_id,
        a.rank,
        median((b.apart_ns - a.apart_ns) / nullif(b.hub_end_ns - a.hub_end_ns, 0)) AS slope
    FROM ends AS a
    JOIN ends AS b
        ON b.job = a.job AND b.group_id = a.group_id AND b.rank = a.rank
        AND b.place = a.place + a.anchor_count // 2
    WHERE a.anchor_count >= 8
    GROUP BY a.job, a.group_id, a.rank
),
bases AS (
    SELECT
        job,
        group_id,
        hub,
        rank,
        count(*) AS anchor_count,
        min(hub_end_ns) AS hub_ns,
        quantile_disc(apart_ns, 0.5) AS apart_ns
    FROM ends
    GROUP BY job, group_id, hub, rank
),
-- What is left over, with the slope and without.
left_over AS (
    SELECT
        e.job,
        e.group_id,
        e.rank,
        e.apart_ns - b.apart_ns AS level_ns,
        level_ns - round((e.hub_end_ns - b.hub_ns) * coalesce(s.slope, 0))::BIGINT AS sloped_ns
    FROM ends AS e
    JOIN bases AS b ON b.job = e.job AND b.group_id = e.group_id AND b.rank = e.rank
    LEFT JOIN slopes AS s ON s.job = e.job AND s.group_id = e.group_id AND s.rank = e.rank
),
levels AS (
    SELECT
        job,
        group_id,
        rank,
        quantile_disc(sloped_ns, 0.5) AS sloped_base_ns,
        quantile_disc(level_ns, 0.75) - quantile_disc(level_ns, 0.25) AS level_spread_ns,
        quantile_disc(sloped_ns, 0.75) - quantile_disc(sloped_ns, 0.25) AS sloped_spread_ns
    FROM left_over
    GROUP BY job, group_id, rank
),
fits AS (
    SELECT
        b.job,
        b.group_id,
        b.hub,
        b.rank,
        b.anchor_count,
        b.hub_ns,
        (abs(s.slope) < 0.01 AND 2 * l.sloped_spread_ns < l.level_spread_ns) IS TRUE AS has_slope,
        CASE WHEN has_slope THEN s.slope ELSE 0 END AS slope,
        b.apart_ns + CASE WHEN has_slope THEN l.sloped_base_ns ELSE 0 END AS apart_ns
    FROM bases AS b
    JOIN levels AS l ON l.job = b.job AND l.group_id = b.group_id AND l.rank = b.rank
    LEFT JOIN slopes AS s ON s.job = b.job AND s.group_id = b.group_id AND s.rank = b.rank
),
residuals AS (
    SELECT
        f.job,
        f.group_id,
        f.rank,
        -- One or two may both be off, by no more than they take.
        CASE WHEN count(*) < 3 THEN min(e.transfer_ns) ELSE 0 END + ceil(
            quantile_disc(
                abs(
                    e.apart_ns - f.apart_ns - round((e.hub_end_ns - f.hub_ns) * f.slope)::BIGINT
                ),
                0.95
            ) * (1 + 3 / sqrt(count(*)))
        )::BIGINT AS residual_ns
    FROM fits AS f
    JOIN ends AS e ON e.job = f.job AND e.group_id = f.group_id AND e.rank = f.rank
    GROUP BY f.job, f.group_id, f.rank
),
-- Both ways: from a rank's clock to that of another one.
ties AS MATERIALIZED (
    SELECT
        f.job,
        f.rank,
        f.hub AS other,
        f.hub_ns + f.apart_ns AS local_ns,
        f.hub_ns AS other_ns,
        f.slope / (1 + f.slope) AS gain,
        r.residual_ns,
        f.anchor_count
    FROM fits AS f
    JOIN residuals AS r ON r.job = f.job AND r.group_id = f.group_id AND r.rank = f.rank
    WHERE f.rank <> f.hub
    UNION ALL
    SELECT
        f.job,
        f.hub AS rank,
        f.rank AS other,
        f.hub_ns AS local_ns,
        f.hub_ns + f.apart_ns AS other_ns,
        -f.slope AS gain,
        r.residual_ns,
        f.anchor_count
    FROM fits AS f
    JOIN residuals AS r ON r.job = f.job AND r.group_id = f.group_id AND r.rank = f.rank
    WHERE f.rank <> f.hub
),
ranks AS MATERIALIZED (
    SELECT DISTINCT job, rank
    FROM query_table(members)
),
-- The lowest rank within reach.
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
