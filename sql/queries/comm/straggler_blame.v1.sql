-- Why ranks came late to collectives, followed from rank to rank to where it began.
--
-- What did the last one do that a typical member did not?
--
-- Both ranks left some earlier collective together: the last one they share before this one. What
-- the late rank has done since is held against what the peer in the middle of the order has:
--
--     late    [= sync =)  [====== longer kernel ======)  [= collective =)
--     peer   [== sync ==)[=== kernel ===)[======== collective ==========)
--
-- An instant counts once: as computation, else as communication, else as copy, else as idle. As
-- both began together, the four differences add up to late_ns, whatever the clocks. The largest is
-- the cause if it is more than half of late_ns:
--
--     computation  longer or more kernels; kernel_name is the one of which there is most more
--     copy         the same for copies and memsets
--     host         the device stood idle longer; host_name is what the host was doing then: in the
--                  middle of the longest gap, on the thread that launched what ended it
--     waiting      it waited in another group or for a message, for the rank in the next row: hop
--                  goes up by one, and collective_id there is `waited_in` here
--     transfer     communication took longer, without much waiting in it
--     unexplained  nothing is more than half, or there is no earlier collective together
--
-- Row by row, `collective_id` with hop 0 is the late arrival of which the chain tells; the last row
-- of a chain, is_root, is where it began.
--
-- Late are the last ones of all-reduces, all-gathers, reduce-scatters, all-to-alls and barriers,
-- and of a message the later side. HTA has no counterpart.
--
-- since: 0.1
-- grain: job, chain_id, hop
-- returns:
--   job             VARCHAR  -      run of a program
--   chain_id        BIGINT   -      collective_id of the late arrival that is explained
--   hop             INTEGER  -      0 for this one itself, 1 for where its last rank waited, ...
--   collective_id   BIGINT   -      collective or message to which `rank` came late
--   name            VARCHAR  -      its name
--   process_group   VARCHAR  -      and group
--   step            BIGINT   -      in which it was launched; NULL outside steps
--   rank            INTEGER  -      who came last
--   host            VARCHAR  -      the machine of this rank, where its trace names it
--   peer            INTEGER  -      with whom it is compared
--   late_ns         BIGINT   ns     by which it came after this one
--   caused_wait_ns  BIGINT   ns     sum of all members' waits
--   cause           VARCHAR  -      computation, copy, host, waiting, transfer or unexplained
--   cause_ns        BIGINT   ns     by how much more of this there was
--   cause_frac      DOUBLE   0-1    cause_ns / late_ns, at most 1
--   event_id        BIGINT   -      GPU activity that stands for it
--   kernel_name     VARCHAR  -      kernel or copy that took longer
--   op_name         VARCHAR  -      operator that launched the event
--   host_name       VARCHAR  -      what the host did while the device stood idle
--   waited_in       BIGINT   -      collective_id of the next hop
--   is_root         BOOLEAN  -      last row of its chain
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
    min_late_ns BIGINT := 10000  -- explain those that came that much after their peer, or more
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
