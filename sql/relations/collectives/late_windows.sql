-- One row per late arrival at a collective or message: the late rank, its peer, and a window of
-- time before the arrival on each of the two ranks.
--
-- `members`: rows of paired_members: one per rank's call of a collective or message
-- `least_ns`: an arrival is late if it comes at least this long after the peer's arrival (ns)
--
-- The macro looks at messages, and at collectives that all members leave together. An arrival is
-- the start of a member's call. The arrival of the last rank has a row if it is later than the
-- peer's arrival, and by least_ns or more. A window lasts from the last moment at which both ranks
-- left a collective together until the rank's arrival. Returns job, collective_id, and
--
--     late_id            number of the row
--     rank               the rank that came last
--     peer               the member in the middle of the order of arrival. If two members are in
--                        the middle, the peer is the one that came earlier
--     late_ns            how much later `rank` came than `peer`: the difference of their durations
--     caused_wait_ns     sum of all members' waits
--     from_ns            start of the late rank's window, on the late rank's clock: the end of the
--                        last collective that both ranks left together before until_ns. NULL if
--                        the two ranks left no collective together before
--     until_ns           end of the late rank's window: the late rank's arrival; NULL if from_ns
--                        is NULL
--     peer_from_ns       start of the peer's window, on the peer's clock: the end of the same
--                        collective
--     peer_until_ns      end of the peer's window: the peer's arrival, but at least peer_from_ns
--
-- Both windows begin at the same moment, even if the clocks differ. So the late rank's window is
-- longer by late_ns:
--
--     rank      [== sync ==)                         [= c =)
--     window               <------------------------>
--     peer     [=== sync ==)           [===== c ==========)
--     window               <---------->
--
-- In the drawing, `rank` comes late to c. sync is the last collective before c that both ranks left
-- together.
--
-- reads: turn_of
CREATE OR REPLACE MACRO late_windows(members, least_ns) AS TABLE
WITH
paired AS MATERIALIZED (
    SELECT
        job, collective_id, group_id, rank, start_ns, dur_ns, end_ns, wait_ns, ends_together
    FROM query_table(members)
    WHERE collective_id IS NOT NULL
      AND member_count > 1
      AND (is_message OR ends_together)
),
arrivals AS (
    SELECT
        job,
        collective_id,
        min(dur_ns) AS last_dur_ns,
        -- The sign makes quantile_disc return the longer one of two middle durations.
        -quantile_disc(-dur_ns, 0.5) AS middle_dur_ns,
        sum(wait_ns)::BIGINT AS caused_wait_ns
    FROM paired
    GROUP BY job, collective_id
    HAVING sum(wait_ns) > 0
),
late_ones AS (
    SELECT row_number() OVER (ORDER BY job, collective_id) AS late_id, *
    FROM arrivals
    WHERE middle_dur_ns > last_dur_ns AND middle_dur_ns - last_dur_ns >= least_ns
),
-- If several calls have the shortest duration, turn_of decides which rank was last. If several
-- calls have the middle duration, the lowest rank is the peer.
late AS MATERIALIZED (
    SELECT
        l.late_id,
        l.job,
        l.collective_id,
        arg_min(p.rank, turn_of(p.collective_id, p.rank)) FILTER (p.dur_ns = l.last_dur_ns) AS rank,
        min(p.rank) FILTER (p.dur_ns = l.middle_dur_ns) AS peer,
        any_value(l.middle_dur_ns - l.last_dur_ns) AS late_ns,
        any_value(l.caused_wait_ns) AS caused_wait_ns
    FROM paired AS p
    JOIN late_ones AS l ON l.job = p.job AND l.collective_id = p.collective_id
    GROUP BY l.late_id, l.job, l.collective_id
),
starts AS MATERIALIZED (
    SELECT
        l.late_id,
        l.job,
        l.rank,
        l.peer,
        any_value(p.start_ns) FILTER (p.rank = l.rank) AS start_ns,
        any_value(p.start_ns) FILTER (p.rank = l.peer) AS peer_start_ns
    FROM paired AS p
    JOIN late AS l ON l.job = p.job AND l.collective_id = p.collective_id
    GROUP BY l.late_id, l.job, l.rank, l.peer
),
group_ranks AS MATERIALIZED (
    SELECT DISTINCT job, group_id, rank
    FROM paired
    WHERE ends_together
),
shared_groups AS (
    SELECT p.job, p.rank, p.peer, a.group_id
    FROM (SELECT DISTINCT job, rank, peer FROM late) AS p
    JOIN group_ranks AS a ON a.job = p.job AND a.rank = p.rank
    JOIN group_ranks AS b
        ON b.job = p.job AND b.rank = p.peer AND b.group_id = a.group_id
),
-- Lays the calls of each group and rank end to end on one axis of time, as in busy_times. `moments`
-- doubles times and adds 1 to starts. So an end comes before a start at the same instant.
shifts AS MATERIALIZED (
    SELECT
        group_id,
        rank,
        (sum(last_ns - first_ns + 1) OVER in_order - (last_ns - first_ns + 1))::BIGINT - first_ns
            AS shift_ns,
        first_ns,
        last_ns
    FROM (
        SELECT group_id, rank, min(start_ns) AS first_ns, max(end_ns) AS last_ns
        FROM paired
        GROUP BY group_id, rank
    )
    WINDOW in_order AS (ORDER BY group_id, rank ROWS UNBOUNDED PRECEDING)
),
moments AS (
    SELECT
        p.rank,
        p.group_id,
        2 * (p.end_ns + x.shift_ns) AS place,
        p.end_ns AS at_ns,
        p.collective_id,
        NULL::BIGINT AS late_id
    FROM paired AS p
    JOIN shifts AS x ON x.group_id = p.group_id AND x.rank = p.rank
    WHERE p.ends_together
    UNION ALL
    SELECT
        s.rank,
        g.group_id,
        2 * (least(greatest(s.start_ns, x.first_ns), x.last_ns) + x.shift_ns) + 1 AS place,
        s.start_ns AS at_ns,
        NULL AS collective_id,
        s.late_id
    FROM starts AS s
    JOIN shared_groups AS g ON g.job = s.job AND g.rank = s.rank AND g.peer = s.peer
    JOIN shifts AS x ON x.group_id = g.group_id AND x.rank = s.rank
),
-- left_count is the number of ends of collectives on the axis before a moment. If the moment is an
-- end, this end counts too.
counted AS MATERIALIZED (
    SELECT
        *,
        count(collective_id) OVER (
            ORDER BY place, collective_id ROWS UNBOUNDED PRECEDING
        ) AS left_count
    FROM moments
),
waited AS MATERIALIZED (
    SELECT rank, group_id, left_count, late_id
    FROM counted
    WHERE late_id IS NOT NULL
),
-- The last collective that the late rank left before it came late, over all groups that it shares
-- with the peer. The collective is the row with the same left_count. If the rank had not left any
-- collective of a group yet, the row with this left_count belongs to another group or rank. The
-- join drops this row.
synced AS MATERIALIZED (
    SELECT w.late_id, max({'end_ns': c.at_ns, 'collective_id': c.collective_id}) AS sync
    FROM counted AS c
    JOIN waited AS w
        ON w.left_count = c.left_count AND w.rank = c.rank AND w.group_id = c.group_id
    WHERE c.late_id IS NULL
    GROUP BY w.late_id
),
peer_syncs AS MATERIALIZED (
    SELECT l.late_id, l.job, l.peer, y.sync.collective_id AS collective_id, y.sync.end_ns AS from_ns
    FROM synced AS y
    JOIN late AS l ON l.late_id = y.late_id
),
peer_ends AS MATERIALIZED (
    SELECT y.late_id, y.from_ns, p.end_ns AS peer_from_ns
    FROM peer_syncs AS y
    JOIN paired AS p
        ON p.job = y.job AND p.collective_id = y.collective_id AND p.rank = y.peer
)
SELECT
    l.late_id,
    l.job,
    l.collective_id,
    l.rank,
    l.peer,
    l.late_ns,
    l.caused_wait_ns,
    e.from_ns,
    CASE WHEN e.from_ns IS NOT NULL THEN s.start_ns END AS until_ns,
    e.peer_from_ns,
    -- The peer can enter the collective on another stream, before it leaves the collective at which
    -- the window begins. Then the peer's window is empty.
    CASE
        WHEN e.from_ns IS NOT NULL THEN greatest(s.peer_start_ns, e.peer_from_ns)
    END AS peer_until_ns
FROM late AS l
JOIN starts AS s ON s.late_id = l.late_id
LEFT JOIN peer_ends AS e ON e.late_id = l.late_id;
