-- One row per rank at which delays began: how many late arrivals these delays caused, and how much
-- GPU time other ranks lost in waits for these arrivals.
--
-- `jobs`: the jobs to look at (NULL: all)
--
-- Returns job, rank, late_count and lost_ns. An arrival is late if it is later than the peer's
-- arrival by 10 us or more, which is also the default of lost_gpu_time. late_windows defines the
-- peer. lost_ns is NULL if the hidden part of a wait is not known.
--
-- reads: hidden_late_waits, late_arrivals, late_roots, paired_members
CREATE OR REPLACE MACRO rank_losses(jobs) AS TABLE
WITH
members AS MATERIALIZED (
    FROM paired_members(jobs)
),
late AS MATERIALIZED (
    FROM late_arrivals(members, jobs, 10000)
),
roots AS MATERIALIZED (
    FROM late_roots(late)
),
hidden AS (
    FROM hidden_late_waits(roots, members, jobs)
)
SELECT
    began.job,
    began.rank,
    count(*) AS late_count,
    CASE
        WHEN count(h.hidden_wait_ns) = count(*)
        THEN sum(r.caused_wait_ns - h.hidden_wait_ns)::BIGINT
    END AS lost_ns
FROM roots AS r
JOIN late AS began ON began.late_id = r.root_id
JOIN hidden AS h ON h.late_id = r.late_id
GROUP BY began.job, began.rank;
