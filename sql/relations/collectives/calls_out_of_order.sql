-- One row per call that a rank began after another call with a higher Seq of the same lane.
--
-- `members`: rows of paired_members
-- `placed`: rows of placed_collectives
--
-- Returns job, lane, rank, reason (out_of_order), place, collective_id and detail. The macro tests
-- only calls that have a Seq and are paired by comms_id or seq. If the Seq of a call differs from
-- the least Seq of its collective, the call has no row.
CREATE OR REPLACE MACRO calls_out_of_order(members, placed) AS TABLE
WITH
-- The lanes in which a rank may have begun calls in an order that differs from the order of their
-- Seq. A lane is left out if two conditions hold:
--   * In each collective, all members have the same Seq.
--   * All members of a collective have begun before the first member of the next collective begins.
entangled AS MATERIALIZED (
    SELECT lane
    FROM (
        SELECT
            lane,
            has_seqs,
            start_ns,
            max(last_start_ns) OVER (
                PARTITION BY lane ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) AS last_start_before_ns
        FROM query_table(placed)
        WHERE seq IS NOT NULL
    )
    WHERE has_seqs OR start_ns <= last_start_before_ns
    GROUP BY lane
)
SELECT job, lane, rank, 'out_of_order' AS reason, place, collective_id,
    'Seq ' || seq || ' after ' || seq_before AS detail
FROM (
    SELECT
        m.job,
        m.lane,
        m.rank,
        m.collective_id,
        m.seq,
        max(m.seq) OVER (
            PARTITION BY m.lane, m.rank ORDER BY m.start_ns, m.event_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS seq_before
    FROM query_table(members) AS m
    SEMI JOIN entangled AS e ON e.lane = m.lane
    WHERE m.seq >= 0 AND m.paired_by <> 'order' AND m.collective_id IS NOT NULL
    QUALIFY m.seq < seq_before
) AS late
JOIN query_table(placed) AS p USING (job, lane, collective_id, seq);
