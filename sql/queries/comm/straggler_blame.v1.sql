-- Root causes of late arrivals at collectives, followed from rank to rank.
--
-- The query explains the last arrival at each all-reduce, all-gather, reduce-scatter, all-to-all
-- and barrier, and the later side of each message. It compares what the late rank did with what its
-- peer did. The peer is the member in the middle of the order of arrival; if two are in the middle,
-- it is the earlier one.
--
-- The comparison begins with the last earlier collective that both ranks left together:
--
--     late    [= sync =)  [====== longer kernel ======)  [= collective =)
--     peer   [== sync ==)[=== kernel ===)[======== collective ==========)
--
-- Each instant counts once: as computation, else as communication, else as copy, else as idle. Both
-- ranks begin at the same instant, so the four differences add up to late_ns, whatever the clocks
-- say. The largest difference is the cause if it is more than half of late_ns:
--
--     computation  longer or more kernels; kernel_name is the name whose time grew most
--     copy         the same for copies and memsets
--     host         the device was idle longer; host_name is what the host did in the middle of the
--                  longest gap, on the thread that launched the activity after the gap
--     waiting      the rank waited in another group or for a message, for the rank in the next row;
--                  there hop is one higher, and collective_id is `waited_in` of this row
--     transfer     communication took longer; no wait in it explains more than half of that
--     unexplained  no difference is more than half, or there is no earlier shared collective
--
-- A chain begins at hop 0 with the late arrival that it explains. Its last row (is_root) is where
-- the delay began. A chain also ends where the last rank waited for one that was not late by
-- min_late_ns, or at hop 16.
--
-- since: 0.1
-- grain: job, chain_id, hop
-- returns:
--   job             VARCHAR  -      run of a program
--   chain_id        BIGINT   -      collective_id of the late arrival that the chain explains
--   hop             INTEGER  -      0 for this late arrival, 1 for where its last rank waited, ...
--   collective_id   BIGINT   -      number of the collective or message to which `rank` came late
--   name            VARCHAR  -      name of the collective; send for messages
--   process_group   VARCHAR  -      name of the process group
--   step            BIGINT   -      step in which it was launched; NULL outside steps
--   rank            INTEGER  -      rank that came last
--   host            VARCHAR  -      machine of this rank, if its trace names it
--   peer            INTEGER  -      rank that it is compared with
--   late_ns         BIGINT   ns     how much later the rank came than the peer
--   caused_wait_ns  BIGINT   ns     sum of all members' waits
--   cause           VARCHAR  -      computation, copy, host, waiting, transfer or unexplained
--   cause_ns        BIGINT   ns     how much more time the rank spent on the cause than the peer;
--                                   NULL if unexplained
--   cause_frac      DOUBLE   0-1    cause_ns / late_ns, at most 1
--   event_id        BIGINT   -      event_id of the GPU activity that stands for the cause
--   kernel_name     VARCHAR  -      kernel or copy that took longer
--   op_name         VARCHAR  -      operator that launched the activity
--   host_name       VARCHAR  -      what the host did while the device was idle
--   waited_in       BIGINT   -      collective_id of where the rank waited, if the cause is
--                                   waiting: the next hop's
--   is_root         BOOLEAN  -      whether it is the last row of its chain
-- check: late_ns >= 0 AND caused_wait_ns >= late_ns
-- check: rank <> peer
-- check: (cause = 'waiting') = (waited_in IS NOT NULL)
-- check: (cause = 'unexplained') = (cause_ns IS NULL)
-- check: 2 * cause_ns > late_ns
-- check: hop > 0 OR chain_id = collective_id
-- reads: blame_chains, late_arrivals, late_names, paired_members
CREATE OR REPLACE MACRO straggler_blame_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to explain [default: all]
    only_ranks INTEGER[] := NULL,  -- late ranks to explain, at hop 0 [default: all]
    only_steps BIGINT[] := NULL,  -- steps to explain, at hop 0 [default: all]
    min_late_ns BIGINT := 10000  -- ns; shortest delay after the peer that counts as late
) AS TABLE
WITH
members AS MATERIALIZED (
    FROM paired_members(only_jobs)
),
late AS MATERIALIZED (
    FROM late_arrivals(members, only_jobs, min_late_ns)
),
described AS (
    SELECT
        job,
        collective_id,
        min(CASE WHEN is_message THEN 'send' ELSE name END) AS name,
        min(process_group) AS process_group,
        min(step) AS step
    FROM members
    WHERE collective_id IS NOT NULL
    GROUP BY job, collective_id
),
picked AS MATERIALIZED (
    SELECT c.*
    FROM blame_chains(late) AS c
    SEMI JOIN (
        SELECT l.job, l.collective_id
        FROM late AS l
        JOIN described AS e ON e.job = l.job AND e.collective_id = l.collective_id
        WHERE (only_ranks IS NULL OR list_contains(only_ranks, l.rank))
          AND (only_steps IS NULL OR list_contains(only_steps, e.step))
    ) AS p ON p.job = c.job AND p.collective_id = c.chain_id
),
explained AS MATERIALIZED (
    SELECT l.*
    FROM late AS l
    SEMI JOIN picked AS p ON p.late_id = l.late_id
)
SELECT
    p.job,
    p.chain_id,
    p.hop,
    l.collective_id,
    e.name,
    e.process_group,
    e.step,
    l.rank,
    n.host,
    l.peer,
    l.late_ns,
    l.caused_wait_ns,
    l.cause,
    l.cause_ns,
    least(1, l.cause_ns / l.late_ns) AS cause_frac,
    l.event_id,
    l.kernel_name,
    n.op_name,
    n.host_name,
    l.next_id AS waited_in,
    p.is_root
FROM picked AS p
JOIN explained AS l ON l.late_id = p.late_id
JOIN late_names(explained, only_jobs) AS n ON n.late_id = p.late_id
JOIN described AS e ON e.job = l.job AND e.collective_id = l.collective_id
ORDER BY p.job, p.chain_id, p.hop;
