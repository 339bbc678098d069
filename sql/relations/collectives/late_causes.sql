-- One row per late arrival: what the late rank did in its window that its peer did not do.
--
-- `late`: rows of late_windows, which defines the peer and the two windows
-- `pieces`: rows of window_pieces for two windows per row of `late`. window_id is 2 * late_id for
--           the late rank's window, and 2 * late_id + 1 for the peer's window
-- `busy`: rows of busy_times for `pieces`, with window_id as step
-- `members`: rows of paired_members: one per rank's call of a collective or message
--
-- Returns late_id, and
--
--     cause          computation, copy, host, waiting, transfer or unexplained
--     cause_ns       how much more time the late rank spent on the cause than the peer did; NULL if
--                    the cause is unexplained
--     event_id       activity of the late rank that stands for the cause, see below
--     kernel_name    kernel or copy with the largest increase in total time; NULL unless the cause
--                    is computation or copy
--     op_id          operator that launched the activity in event_id; NULL unless the cause is
--                    computation, copy or host. Also NULL if the late call itself ended the gap
--     next_id        collective_id of the collective with the longest wait; NULL unless the cause
--                    is waiting
--     at_ns          middle of the longest idle gap; NULL unless the cause is host
--
-- event_id depends on the cause:
--
--     computation, copy  the longest activity named kernel_name
--     host               the activity that ended the longest idle gap
--     waiting, transfer  the call with the longest wait; NULL if no call waited
--     unexplained        NULL
--
-- Each instant of a window counts as one of four kinds:
--   * as computation if a computation runs
--   * else as communication if a communication runs
--   * else as copy if a copy or memset runs
--   * else as idle
--
-- For each of these four kinds, the macro subtracts the peer's time from the late rank's time. The
-- windows begin together, so the four differences add up to late_ns. The kind with the largest
-- difference is the cause if the difference is more than half of late_ns. If several differences
-- are equally large, the first of computation, idle, communication and copy counts. If there are no
-- windows, or no difference is more than half of late_ns, the cause is unexplained.
--
-- If idle has the largest difference, the cause is named host. If communication has the largest
-- difference, the cause is named waiting or transfer. The name is waiting if one wait is more than
-- half of the difference, else transfer.
CREATE OR REPLACE MACRO late_causes(late, pieces, busy, members) AS TABLE
WITH
windows AS (
    SELECT late_id, 2 * late_id AS window_id, until_ns - from_ns AS window_ns, 1 AS sign
    FROM query_table(late)
    WHERE from_ns IS NOT NULL
    UNION ALL
    SELECT late_id, 2 * late_id + 1 AS window_id, peer_until_ns - peer_from_ns AS window_ns, -1
    FROM query_table(late)
    WHERE from_ns IS NOT NULL
),
differences AS (
    SELECT
        w.late_id,
        sum(w.sign * coalesce(b.computation_ns, 0))::BIGINT AS computation_ns,
        sum(
            w.sign * coalesce(b.computation_or_communication_ns - b.computation_ns, 0)
        )::BIGINT AS communication_ns,
        sum(
            w.sign * coalesce(b.busy_ns - b.computation_or_communication_ns, 0)
        )::BIGINT AS memory_ns,
        sum(w.sign * (w.window_ns - coalesce(b.busy_ns, 0)))::BIGINT AS idle_ns
    FROM windows AS w
    LEFT JOIN query_table(busy) AS b ON b.step = w.window_id
    GROUP BY w.late_id
),
kinds AS MATERIALIZED (
    SELECT
        l.late_id,
        greatest(d.computation_ns, d.communication_ns, d.memory_ns, d.idle_ns) AS most_ns,
        CASE
            WHEN d.late_id IS NULL OR 2 * most_ns <= l.late_ns THEN 'unexplained'
            WHEN most_ns = d.computation_ns THEN 'computation'
            WHEN most_ns = d.idle_ns THEN 'idle'
            WHEN most_ns = d.communication_ns THEN 'communication'
            ELSE 'memory'
        END AS kind
    FROM query_table(late) AS l
    LEFT JOIN differences AS d ON d.late_id = l.late_id
),
told AS MATERIALIZED (
    SELECT
        k.late_id,
        k.kind AS cause_kind,
        p.window_id = 2 * k.late_id AS is_late,
        p.job,
        p.rank,
        p.event_id,
        p.kind,
        p.name,
        p.op_id,
        p.start_ns,
        p.end_ns
    FROM query_table(pieces) AS p
    JOIN kinds AS k ON k.late_id = p.window_id // 2
    WHERE k.kind <> 'unexplained'
),
-- For computation and copy: one row per late arrival and name of a kernel or copy. more_ns is how
-- much more time activities of this name take on the late rank than on the peer.
names AS (
    SELECT
        late_id,
        name,
        sum(CASE WHEN is_late THEN end_ns - start_ns ELSE start_ns - end_ns END) AS more_ns,
        max({'dur_ns': end_ns - start_ns, 'event_id': event_id, 'op_id': op_id})
            FILTER (is_late) AS longest
    FROM told
    WHERE kind = cause_kind AND kind <> 'communication'
    GROUP BY late_id, name
),
grown AS (
    SELECT late_id, max({'more_ns': more_ns, 'name': name, 'longest': longest}) AS most
    FROM names
    WHERE longest IS NOT NULL
    GROUP BY late_id
),
-- For communication: the late rank's longest wait.
waited AS (
    SELECT
        t.late_id,
        max({
            'wait_ns': least(t.end_ns, m.start_ns + m.wait_ns) - t.start_ns,
            'collective_id': m.collective_id,
            'event_id': t.event_id
        }) AS longest
    FROM told AS t
    JOIN query_table(members) AS m
        ON m.job = t.job AND m.rank = t.rank AND m.event_id = t.event_id
    WHERE t.cause_kind = 'communication' AND t.is_late AND t.kind = 'communication'
      AND m.wait_ns > 0
    GROUP BY t.late_id
),
-- For idle: where gaps begin and end on the late rank. The window's start ends no gap. The window's
-- end ends the last gap.
ends AS (
    SELECT late_id, start_ns, end_ns, event_id, op_id
    FROM told
    WHERE cause_kind = 'idle' AND is_late
    UNION ALL
    SELECT l.late_id, l.from_ns AS start_ns, l.from_ns AS end_ns, NULL AS event_id, NULL AS op_id
    FROM query_table(late) AS l
    JOIN kinds AS k ON k.late_id = l.late_id AND k.kind = 'idle'
    UNION ALL
    SELECT l.late_id, l.until_ns AS start_ns, l.until_ns AS end_ns, m.event_id, NULL AS op_id
    FROM query_table(late) AS l
    JOIN kinds AS k ON k.late_id = l.late_id AND k.kind = 'idle'
    JOIN query_table(members) AS m
        ON m.job = l.job AND m.collective_id = l.collective_id AND m.rank = l.rank
),
gaps AS (
    SELECT
        late_id,
        event_id,
        op_id,
        start_ns,
        max(end_ns) OVER (
            PARTITION BY late_id ORDER BY start_ns, end_ns
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS until_ns
    FROM ends
),
longest_gaps AS (
    SELECT
        late_id,
        max({
            'gap_ns': start_ns - until_ns,
            'until_ns': until_ns,
            'event_id': event_id,
            'op_id': op_id
        }) AS longest
    FROM gaps
    WHERE start_ns > until_ns
    GROUP BY late_id
)
SELECT
    k.late_id,
    CASE
        WHEN k.kind = 'memory' THEN 'copy'
        WHEN k.kind = 'idle' THEN 'host'
        WHEN k.kind <> 'communication' THEN k.kind
        WHEN 2 * w.longest.wait_ns > k.most_ns THEN 'waiting'
        ELSE 'transfer'
    END AS cause,
    CASE WHEN k.kind = 'unexplained' THEN NULL ELSE k.most_ns END AS cause_ns,
    coalesce(g.most.longest.event_id, w.longest.event_id, i.longest.event_id) AS event_id,
    g.most.name AS kernel_name,
    coalesce(g.most.longest.op_id, i.longest.op_id) AS op_id,
    CASE WHEN 2 * w.longest.wait_ns > k.most_ns THEN w.longest.collective_id END AS next_id,
    i.longest.until_ns + i.longest.gap_ns // 2 AS at_ns
FROM kinds AS k
LEFT JOIN grown AS g ON g.late_id = k.late_id
LEFT JOIN waited AS w ON w.late_id = k.late_id
LEFT JOIN longest_gaps AS i ON i.late_id = k.late_id;
