-- One row per collective or message: its place in its lane, and whether its members differ in name,
-- data type, size or seq.
--
-- `members`: rows of paired_members: one per rank's call of a collective or message
-- `clocks`: rows of aligned_clocks
--
-- The collectives of a process group are a lane. The messages from one sender to one receiver in a
-- group are a lane. Returns job, collective_id, lane, group_id, name, member_count and seq. If the
-- members have different names or values of seq, the least value counts. Messages have the name
-- send. Also returns
--
--     rank_count     number of ranks with a call
--     start_ns       the first start
--     last_start_ns  the last start
--     end_ns         the last end
--     has_seqs       true if the members have different values of seq
--     has_names      true if the members have different names. False for messages
--     has_dtypes     true if the members have different data types
--     has_sizes      true if the members have different numbers of elements, although sizes_agree
--                    is true for their names
--     place          position of the collective or message in its lane, from 1, in order of seq and
--                    start
--
-- The start and end of a call are on the reference rank's clock. If a rank's clock is not known,
-- the times of the rank's calls stay on the rank's own clock.
--
-- reads: aligned_ns, sizes_agree
CREATE OR REPLACE MACRO placed_collectives(members, clocks) AS TABLE
WITH
found AS (
    SELECT
        m.job,
        m.collective_id,
        any_value(m.lane) AS lane,
        any_value(m.group_id) AS group_id,
        min(CASE WHEN m.is_message THEN 'send' ELSE m.name END) AS name,
        any_value(m.member_count) AS member_count,
        -- Each rank has one call in a collective or message.
        count(*) AS rank_count,
        min(m.seq) AS seq,
        min(m.seq) <> max(m.seq) AS has_seqs,
        min(
            coalesce(aligned_ns(m.start_ns, c.local_ns, c.reference_ns, c.gain), m.start_ns)
        ) AS start_ns,
        max(
            coalesce(aligned_ns(m.start_ns, c.local_ns, c.reference_ns, c.gain), m.start_ns)
        ) AS last_start_ns,
        max(
            coalesce(aligned_ns(m.end_ns, c.local_ns, c.reference_ns, c.gain), m.end_ns)
        ) AS end_ns,
        min(m.name) <> max(m.name) AND NOT any_value(m.is_message) AS has_names,
        min(coalesce(m.dtype, '')) <> max(coalesce(m.dtype, '')) AS has_dtypes,
        (
            min(coalesce(m.in_nelems, -1)) <> max(coalesce(m.in_nelems, -1))
            OR min(coalesce(m.out_nelems, -1)) <> max(coalesce(m.out_nelems, -1))
        ) AND bool_and(sizes_agree(m.name)) AS has_sizes
    FROM query_table(members) AS m
    LEFT JOIN query_table(clocks) AS c ON c.job = m.job AND c.rank = m.rank
    WHERE m.collective_id IS NOT NULL
    GROUP BY m.job, m.collective_id
)
SELECT
    *,
    row_number() OVER (PARTITION BY lane ORDER BY seq, start_ns, collective_id) AS place
FROM found;
