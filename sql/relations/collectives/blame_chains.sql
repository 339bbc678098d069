-- From each late arrival on to where the late rank waited, to who was late there, and so on.
--
-- `direct` needs late_id, job, collective_id and next_id, the collective_id of where the late rank
-- waited, if it did. Gives job, chain_id, which is the first one's collective_id, hop from 0 on,
-- the late_id of each and is_root for the last. A chain ends where nobody waited, where nobody was
-- late enough to be in `direct`, or after 16 hops.
CREATE OR REPLACE MACRO blame_chains(direct) AS TABLE
WITH RECURSIVE
links AS MATERIALIZED (
    SELECT d.late_id, d.job, d.collective_id, n.late_id AS next_late_id
    FROM query_table(direct) AS d
    LEFT JOIN query_table(direct) AS n ON n.job = d.job AND n.collective_id = d.next_id
),
chains AS (
    SELECT job, collective_id AS chain_id, 0 AS hop, late_id, next_late_id
    FROM links
    UNION ALL
    SELECT c.job, c.chain_id, c.hop + 1 AS hop, l.late_id, l.next_late_id
    FROM chains AS c
    JOIN links AS l ON l.late_id = c.next_late_id
    WHERE c.hop < 16
)
SELECT job, chain_id, hop, late_id, next_late_id IS NULL OR hop = 16 AS is_root
FROM chains;
