-- One row per pair of tied ranks, direction and shared group: how the clocks of the two ranks
-- differ.
--
-- `members`: rows of paired_members: one per rank's call of a collective or message
--
-- A tie is a pair of ranks of one process group: the hub and another member of the group. Ties are
-- computed only from collectives that all members leave together. These are all-reduce, all-gather,
-- reduce-scatter, all-to-all and barrier: a member leaves them only after the last member has
-- entered.
--
-- Returns job, rank, other, local_ns, other_ns, gain, residual_ns and anchor_count. The columns
-- have the meaning that they have in aligned_clocks, with `other` as the reference rank and
-- other_ns as reference_ns.
--
-- In each group, the hub is the rank with calls in the most collectives of these operations. If
-- several ranks have the most, the lowest of them is the hub. Each other member is compared with
-- the hub:
--
--     apart        end on the member minus end on the hub, for a list of at most 1000 collectives,
--                  which are spread evenly
--     slope        how much `apart` grows per ns of the hub's clock: the median over pairs of
--                  collectives (Theil and Sen). The two collectives of a pair are half of the list
--                  apart
--     other_ns     the first of the ends on the hub
--     local_ns     other_ns plus the median of `apart`, after the slope is subtracted from `apart`
--     gain         slope / (1 + slope)
--
-- In these definitions, the member is `rank` and the hub is `other`. Each pair has a second row
-- with the hub as `rank`: local_ns and other_ns are swapped, and gain is -slope. The slope is 0 if
-- one of these holds:
--   * The list has fewer than 8 collectives with calls of both ranks.
--   * After the slope is subtracted, the interquartile range of `apart` is still half or more of
--     its earlier value.
--   * The slope is 1 % or more. No clock drifts that fast, but ends in disorder can look like
--     drift.
-- A slope below 1 % also keeps the instants of a rank in order when they are converted.
--
-- The medians do not change much if some collectives end in disorder. The ends of a collective may
-- be as far apart as its transfer_ns. So collectives with a transfer_ns of less than 20 us are used
-- only in groups with fewer than eight longer collectives.
CREATE OR REPLACE MACRO clock_ties(members) AS TABLE
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
-- Includes the hub's own ends, with apart_ns = 0.
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
slopes AS MATERIALIZED (
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
bases AS MATERIALIZED (
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
-- The residuals: level_ns without the slope, sloped_ns with the slope.
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
fits AS MATERIALIZED (
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
        -- With only one or two collectives, all ends may be wrong, each by at most its transfer_ns.
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
tied AS MATERIALIZED (
    SELECT f.job, f.hub, f.rank, f.hub_ns, f.apart_ns, f.slope, r.residual_ns, f.anchor_count
    FROM fits AS f
    JOIN residuals AS r ON r.job = f.job AND r.group_id = f.group_id AND r.rank = f.rank
    WHERE f.rank <> f.hub
)
SELECT
    job,
    rank,
    hub AS other,
    hub_ns + apart_ns AS local_ns,
    hub_ns AS other_ns,
    slope / (1 + slope) AS gain,
    residual_ns,
    anchor_count
FROM tied
UNION ALL
SELECT
    job,
    hub AS rank,
    rank AS other,
    hub_ns AS local_ns,
    hub_ns + apart_ns AS other_ns,
    -slope AS gain,
    residual_ns,
    anchor_count
FROM tied;
