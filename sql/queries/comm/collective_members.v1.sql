-- Every rank's part in every collective: when it came, and how long it waited for the others.
--
-- Members leave a collective together, so that the one with the shortest duration came last and
-- waited for nobody; the others waited as much longer as their duration is. This needs no clock.
--
--     rank 0    [wwwwwwwwwwww========)     w wait_ns
--     rank 1         [wwwwwww========)
--     rank 2                 [=======)     the last
--     rank 1's kernels [==)     [===)      computation: 3 of 7 are hidden, 4 are exposed
--
-- Of broadcast, reduce, gather and scatter, where a root may be done early, wait_ns is the same
-- difference, but not only waiting. exposed_wait_ns is what of wait_ns no computation of the rank's
-- device hides. aligned_wait_ns is by clocks instead: from the member's start to the last one's.
-- Where the two differ, clocks are uncertain by that much, or members did not leave together.
--
-- Members are paired, and waits measured, over all ranks, whichever are selected.
--
-- HTA has no counterpart.
--
-- since: 0.1
-- grain: job, collective_id, rank
-- returns:
--   job               VARCHAR  -      run of a program
--   collective_id     BIGINT   -      number of the collective, as in collectives
--   rank              INTEGER  -      member
--   event_id          BIGINT   -      its kernel
--   name              VARCHAR  -      collective, as PyTorch names it
--   process_group     VARCHAR  -      name of the group
--   step              BIGINT   -      in which it was launched; NULL outside steps
--   start_ns          BIGINT   ns     its start on the rank's own clock
--   aligned_start_ns  BIGINT   ns     on the reference rank's clock; NULL where that is not known
--   dur_ns            BIGINT   ns     its duration
--   wait_ns           BIGINT   ns     past the shortest member's duration
--   aligned_wait_ns   BIGINT   ns     until the last member's start, on aligned clocks; NULL where
--                                     not all members have them
--   exposed_wait_ns   BIGINT   ns     of wait_ns, time without computation on the device; NULL
--                                     where hidden_ns is not known
--   is_last           BOOLEAN  -      it came last, or was drawn of those that did; NULL where
--                                     clocks have to tell, but cannot
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
