-- Root causes of late arrivals at collectives, followed from rank to rank.
--
-- The query looks at two kinds of arrivals:
--   * in an all-reduce, all-gather, reduce-scatter, all-to-all or barrier: the rank that came last
--   * in a message: the side that came later
--
-- Each of these ranks has a peer, the member in the middle of the order of arrival. If two members
-- are in the middle, the peer is the one that came earlier. If several members came at the same
-- time as the peer, the lowest rank of them is the peer.
--
-- A rank is late if it came min_late_ns or more after its peer. For each late rank, the query
-- compares what the late rank did with what its peer did. The comparison begins at the end of
-- the previous collective of both ranks (`sync` in the drawing):
--
--     late    [= sync =)  [====== longer kernel ======)  [= collective =)
--     peer   [== sync ==)[=== kernel ===)[======== collective ==========)
--
-- Both ranks leave `sync` at the same moment. For each of the two ranks, the query divides the time
-- from this moment to the rank's arrival into computation, communication, copy and idle. If several
-- kinds of activity run at the same time, this time counts only as the first of them in this order.
-- The query then subtracts the peer's four times from the late rank's four times. The four
-- differences add up to late_ns, even if the clocks are wrong. The largest difference gives the
-- cause if it is more than half of late_ns:
--
--     computation  longer or more kernels; kernel_name is the kernel name
--                  with the largest increase in total time
--     copy         longer or more copies or memsets; kernel_name is the
--                  name with the largest increase in total time
--     host         the device was idle longer; host_name is what the host
--                  did in the middle of the longest gap, on the thread that
--                  launched the activity after the gap
--     waiting      the rank waited for another rank in `waited_in`, an
--                  earlier collective or message
--     transfer     communication took longer, and no single wait explains
--                  more than half of the difference
--     unexplained  no difference is more than half of late_ns, or the ranks
--                  shared no earlier collective
--
-- The rows of a chain explain one late arrival. Row hop 0 is this late arrival itself. If the cause
-- of a row is waiting, the next row (hop + 1) explains the late arrival at `waited_in`. The chain
-- ends (is_root) at the first row for which one of these holds:
--   * The cause is not waiting: the delay began with this rank.
--   * No rank was late at `waited_in` by min_late_ns or more, or `waited_in` is a collective with a
--     root, such as a broadcast.
--   * hop is 16.
--
-- since: 0.1
-- grain: job, chain_id, hop
-- needs: collectives, ranks
-- returns:
--   job             VARCHAR  -      run of a program
--   chain_id        BIGINT   -      collective_id of the late arrival that the chain explains
--   hop             INTEGER  -      0 for the late arrival that the chain explains. If its rank
--                                   was late because it waited in an earlier collective, 1 is the
--                                   late arrival at that collective, and so on
--   collective_id   BIGINT   -      number of the collective or message to which `rank` came late
--   name            VARCHAR  -      name of the collective; `send` for a message
--   process_group   VARCHAR  -      name of the process group
--   step            BIGINT   -      lowest step in which a member launched its kernel; NULL
--                                   outside steps
--   rank            INTEGER  -      rank that came last
--   host            VARCHAR  -      machine of this rank, if its trace names it
--   peer            INTEGER  -      rank with which it is compared
--   late_ns         BIGINT   ns     how much later the rank came than the peer
--   caused_wait_ns  BIGINT   ns     sum of all members' waits at the collective or message
--   cause           VARCHAR  -      computation, copy, host, waiting, transfer or unexplained
--   cause_ns        BIGINT   ns     how much more time the rank spent on the cause than the peer
--                                   did; NULL if unexplained
--   cause_frac      DOUBLE   0-1    cause_ns / late_ns, at most 1
--   event_id        BIGINT   -      event_id of the GPU activity that stands for the cause: the
--                                   longest activity named kernel_name, the activity after the
--                                   longest idle gap, or the collective with the longest wait
--   kernel_name     VARCHAR  -      kernel or copy with the largest increase in total time; NULL
--                                   unless the cause is computation or copy
--   op_name         VARCHAR  -      operator that launched the activity in event_id; NULL unless
--                                   the cause is computation, copy or host
--   host_name       VARCHAR  -      what the host did while the device was idle; NULL unless the
--                                   cause is host
--   waited_in       BIGINT   -      collective_id of the collective or message in which the rank
--                                   waited; NULL unless the cause is waiting
--   is_root         BOOLEAN  -      whether the row is the last one of its chain
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
    min_late_ns BIGINT := 10000  -- ns; a rank is late if it comes at least this long after its peer
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
