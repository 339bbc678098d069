-- When each rank came to each collective, and how long it waited there.
--
-- All members of an all-reduce, all-gather, reduce-scatter, all-to-all or barrier leave it
-- together. The member with the shortest duration therefore came last and did not wait. The wait
-- of each other member is its duration minus the shortest duration. These waits do
-- not depend on clocks:
--
--     rank 0      wwwwwwwwwwww========    w: wait
--     rank 1           wwwwwww========    wait_ns is 7 (7 letters w)
--       computes         ccc    cccc      its device computes during 3 of
--                                         these 7, so exposed_wait_ns is 4
--     rank 2                  ========    came last, wait_ns is 0
--
-- exposed_wait_ns is the part of wait_ns without computation on the rank's device.
--
-- aligned_wait_ns comes from clocks: it is the time from this member's start to the last member's
-- start. If wait_ns and aligned_wait_ns differ, either the clocks are wrong by the difference, or
-- the members did not leave together.
--
-- In a broadcast, reduce, gather or scatter, the root may finish early. wait_ns is then still the
-- difference between durations, but the difference is not only waiting. If the operation of a
-- collective is unknown, the query assumes that its root may finish early.
--
-- Which member is the last one (is_last) depends on the operation:
--   * If all members leave together, it is the member with the shortest duration. If several
--     members have the shortest duration, a hash of collective and rank picks one of them.
--   * If a root may finish early, it is the member with the latest start on aligned clocks. If
--     several members have the latest start, it is the one with the lowest rank.
--
-- Pairing and waits always use all ranks of the job; only_ranks chooses which rows you see.
--
-- since: 0.1
-- grain: job, collective_id, rank
-- needs: collectives, ranks
-- returns:
--   job               VARCHAR  -      run of a program
--   collective_id     BIGINT   -      number of the collective, as in collectives
--   rank              INTEGER  -      rank of the member
--   event_id          BIGINT   -      event_id of the member's kernel
--   name              VARCHAR  -      collective, as PyTorch names it
--   process_group     VARCHAR  -      name of the process group
--   step              BIGINT   -      step in which the member's kernel was launched; NULL outside
--                                     steps
--   start_ns          BIGINT   ns     start on the rank's own clock
--   aligned_start_ns  BIGINT   ns     start on the reference rank's clock; NULL if the rank's clock
--                                     is not aligned
--   dur_ns            BIGINT   ns     duration of the member's kernel
--   wait_ns           BIGINT   ns     dur_ns minus the shortest duration of a member
--   aligned_wait_ns   BIGINT   ns     time from the member's start to the last member's start, on
--                                     aligned clocks; NULL if not all members' clocks are aligned
--   exposed_wait_ns   BIGINT   ns     part of wait_ns without computation on the device; NULL if
--                                     an earlier version of hta_sql wrote the archive
--   is_last           BOOLEAN  -      whether the member came last; NULL if a root may finish early
--                                     and not all members' clocks are aligned
-- check: wait_ns BETWEEN 0 AND dur_ns
-- check: exposed_wait_ns BETWEEN 0 AND wait_ns
-- check: aligned_wait_ns >= 0
-- reads: aligned_clocks, aligned_ns, hidden_waits, last_arrivals, paired_members
CREATE OR REPLACE MACRO collective_members_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to report [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks to report [default: all]
    only_steps BIGINT[] := NULL  -- steps to report [default: all]
) AS TABLE
WITH
members AS MATERIALIZED (
    FROM paired_members(only_jobs)
    WHERE NOT is_message AND member_count > 1
),
clocks AS MATERIALIZED (
    FROM aligned_clocks(members)
),
arrivals AS (
    FROM last_arrivals(members, clocks)
),
picked AS (
    SELECT
        m.job,
        m.collective_id,
        m.rank,
        m.event_id,
        m.device,
        m.name,
        m.process_group,
        m.step,
        m.start_ns,
        m.dur_ns,
        m.wait_ns,
        m.computed_before_ns,
        m.hidden_ns
    FROM members AS m
    WHERE (only_ranks IS NULL OR list_contains(only_ranks, m.rank))
      AND (only_steps IS NULL OR list_contains(only_steps, m.step))
)
SELECT
    m.job,
    m.collective_id,
    m.rank,
    m.event_id,
    m.name,
    m.process_group,
    m.step,
    m.start_ns,
    aligned_ns(m.start_ns, c.local_ns, c.reference_ns, c.gain) AS aligned_start_ns,
    m.dur_ns,
    m.wait_ns,
    a.last_start_ns - aligned_start_ns AS aligned_wait_ns,
    m.wait_ns - m.hidden_wait_ns AS exposed_wait_ns,
    m.rank = a.last_rank AS is_last
FROM hidden_waits(picked, only_jobs, only_ranks) AS m
JOIN arrivals AS a ON a.job = m.job AND a.collective_id = m.collective_id
JOIN clocks AS c ON c.job = m.job AND c.rank = m.rank
ORDER BY m.job, m.collective_id, m.rank;
