-- One row per chain and late arrival in the chain. A chain leads back in time: from a late rank to
-- the rank for which this late rank itself waited earlier, and so on.
--
-- `direct`: late arrivals, at most one per collective. Needs late_id, job, collective_id, next_id
--
-- next_id is the collective_id of the earlier collective in which the late rank waited. next_id is
-- NULL if the late rank did not wait. Returns job, and
--
--     chain_id  collective_id of the chain's first arrival
--     hop       position of the arrival in the chain, from 0
--     late_id   late_id of the arrival
--     is_root   true for the last arrival of the chain
--
-- A chain ends at the first arrival for which one of these holds:
--   * The late rank did not wait.
--   * `direct` has no late arrival at the collective in which the late rank waited.
--   * hop is 16.
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
