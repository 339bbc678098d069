-- One row per late arrival, with the late arrival at which the delay began: the last arrival of the
-- chain.
--
-- `late`: rows of late_arrivals
--
-- Returns late_id, job, collective_id, late_ns, caused_wait_ns and root_id. root_id is the late_id
-- of the last arrival of the chain (see blame_chains).
--
-- reads: blame_chains
CREATE OR REPLACE MACRO late_roots(late) AS TABLE
SELECT l.late_id, l.job, l.collective_id, l.late_ns, l.caused_wait_ns, c.late_id AS root_id
FROM blame_chains(late) AS c
JOIN query_table(late) AS l ON l.job = c.job AND l.collective_id = c.chain_id
WHERE c.is_root;
