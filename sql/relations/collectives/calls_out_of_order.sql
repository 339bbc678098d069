-- One row per call that a rank began after another call of the same lane with a higher seq.
--
-- `members`: rows of paired_members: one per rank's call of a collective or message
-- `placed`: rows of placed_collectives
--
-- The collectives of a process group are a lane. The messages from one sender to one receiver in a
-- group are a lane. The column seq is the `Seq` of the trace: the number that PyTorch gives the
-- call in its process group.
--
-- Returns job, lane, rank, reason (out_of_order), place, collective_id and detail. place is as in
-- placed_collectives. A call can have a row only if all of these hold:
--   * The call has a seq, and belongs to a collective or message.
--   * paired_by is comms_id or seq.
--   * The call's seq is the least seq among the calls of its collective or message.
CREATE OR REPLACE MACRO calls_out_of_order(members, placed) AS TABLE
WITH
-- The lanes in which a rank may have begun calls in another order than the order of seq. A lane is
-- left out if two conditions hold:
--   * In each collective, all members have the same seq.
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
