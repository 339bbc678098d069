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
CREATE OR REPLACE MACRO straggler_blame_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to explain; NULL means all
    only_ranks INTEGER[] := NULL,  -- late ranks to explain, at hop 0; NULL means all
    only_steps BIGINT[] := NULL,  -- steps to explain, at hop 0; NULL means all
    min_late_ns BIGINT := 10000  -- explain those that came that much after their peer, or more
) AS TABLE
WITH
members AS MATERIALIZED (
    FROM paired_members(only_jobs)
),
late AS MATERIALIZED (
    FROM late_windows(members, min_late_ns)
),
windows AS (
    SELECT 2 * late_id AS window_id, job, rank, from_ns, until_ns
    FROM late
    UNION ALL
    SELECT 2 * late_id + 1 AS window_id, job, peer AS rank, peer_from_ns, peer_until_ns
    FROM late
),
activities AS NOT MATERIALIZED (
    SELECT a.job, a.rank, a.event_id, a.kind, a.short_name AS name, a.op_id, a.start_ns, a.end_ns
    FROM gpu_activities AS a
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, a.job))
),
pieces AS MATERIALIZED (
    FROM window_pieces(windows, activities)
),
of_windows AS (
    SELECT job, rank, NULL::BIGINT AS device, window_id AS step, kind, start_ns, end_ns
    FROM pieces
),
busy AS (
    FROM busy_times(of_windows)
),
causes AS MATERIALIZED (
    FROM late_causes(late, pieces, busy, members)
),
direct AS MATERIALIZED (
    SELECT l.*, c.* EXCLUDE (late_id)
    FROM late AS l
    JOIN causes AS c ON c.late_id = l.late_id
),
chains AS MATERIALIZED (
    FROM blame_chains(direct)
),
described AS (
    SELECT job, collective_id, min(CASE WHEN is_message THEN 'send' ELSE name END) AS name,
        min(process_group) AS process_group, min(step) AS step
    FROM members
    WHERE collective_id IS NOT NULL
    GROUP BY job, collective_id
),
picked AS MATERIALIZED (
    SELECT c.*
    FROM chains AS c
    SEMI JOIN (
        SELECT d.job, d.collective_id
        FROM direct AS d
        JOIN described AS e ON e.job = d.job AND e.collective_id = d.collective_id
        WHERE (only_ranks IS NULL OR list_contains(only_ranks, d.rank))
          AND (only_steps IS NULL OR list_contains(only_steps, e.step))
    ) AS p ON p.job = c.job AND p.collective_id = c.chain_id
),
-- Threads that launched what ended the gaps.
gap_ends AS MATERIALIZED (
    SELECT DISTINCT d.late_id, d.job, d.rank, d.event_id, d.at_ns
    FROM direct AS d
    SEMI JOIN picked AS p ON p.late_id = d.late_id
    WHERE d.cause = 'host'
),
instants AS MATERIALIZED (
    SELECT
        g.late_id AS instant_id, g.job, g.rank, a.launch_pid AS pid, a.launch_tid AS tid, g.at_ns
    FROM gpu_activities AS a
    JOIN gap_ends AS g ON g.job = a.job AND g.rank = a.rank AND g.event_id = a.event_id
    WHERE a.launch_id IS NOT NULL
),
host_spans AS NOT MATERIALIZED (
    SELECT o.*
    FROM host_ops AS o
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, o.job))
),
host AS (
    FROM host_at(instants, host_spans)
),
launchers AS (
    SELECT DISTINCT job, rank, op_id
    FROM direct
    WHERE op_id IS NOT NULL
),
op_names AS (
    SELECT o.job, o.rank, o.event_id AS op_id, o.name
    FROM host_ops AS o
    SEMI JOIN launchers AS l ON l.job = o.job AND l.rank = o.rank AND l.op_id = o.event_id
),
machines AS (
    SELECT t.job, t.rank, min(t.host) AS host
    FROM traces AS t
    GROUP BY t.job, t.rank
)
SELECT
    p.job,
    p.chain_id,
    p.hop,
    d.collective_id,
    e.name,
    e.process_group,
    e.step,
    d.rank,
    m.host,
    d.peer,
    d.late_ns,
    d.caused_wait_ns,
    d.cause,
    d.cause_ns,
    least(1, d.cause_ns / d.late_ns) AS cause_frac,
    d.event_id,
    d.kernel_name,
    o.name AS op_name,
    h.name AS host_name,
    d.next_id AS waited_in,
    p.is_root
FROM picked AS p
JOIN direct AS d ON d.late_id = p.late_id
JOIN described AS e ON e.job = d.job AND e.collective_id = d.collective_id
LEFT JOIN machines AS m ON m.job = d.job AND m.rank = d.rank
LEFT JOIN op_names AS o ON o.job = d.job AND o.rank = d.rank AND o.op_id = d.op_id
LEFT JOIN host AS h ON h.instant_id = d.late_id
ORDER BY p.job, p.chain_id, p.hop;
