-- GPU time lost in waits for late ranks, by the rank and the cause of the delay.
--
-- A rank arrives late at a collective or message if it comes min_late_ns or more after its peer,
-- the member in the middle of the order of arrival. For each late arrival, straggler_blame finds
-- where the delay began: the rank, the cause, and the kernel or operator. This query charges the
-- waits of the other members to that rank and cause. lost_gpu_ns is only the part of the waits
-- without computation on the members' devices:
--
--     lost_gpu_ns = sum of exposed_wait_ns over the collectives' members
--
-- collective_members gives exposed_wait_ns of each member.
--
-- The charged rank need not be a member of the collective. It may have delayed one of the members
-- through a collective of another process group, or through a late message.
--
-- If a delay passes through several collectives (a chain of several hops in straggler_blame), the
-- loss in each of these collectives counts. No wait counts twice, because the waiting members are
-- different ranks or wait at different times.
--
-- since: 0.1
-- grain: job, rank, cause, kernel_name, op_name, host_name
-- needs: collectives, ranks
-- returns:
--   job            VARCHAR  -      run of a program
--   rank           INTEGER  -      rank where the delay began
--   cause          VARCHAR  -      cause of the delay, as in straggler_blame
--   kernel_name    VARCHAR  -      kernel or copy that took longer on that rank; NULL unless the
--                                  cause is computation or copy
--   op_name        VARCHAR  -      operator that launched this kernel or copy; if the cause is
--                                  host, operator that launched the activity after the idle gap
--   host_name      VARCHAR  -      what the host did while the device was idle; NULL unless the
--                                  cause is host
--   host           VARCHAR  -      machine of the rank, if its trace names it
--   late_count     BIGINT   count  late arrivals whose delay began with this rank and cause
--   late_ns        BIGINT   ns     sum of these arrivals' delays, each counted from the
--                                  arrival of the peer
--   wait_ns        BIGINT   ns     sum of the waits of all other ranks for these arrivals
--   lost_gpu_ns    BIGINT   ns     part of wait_ns without computation on the waiting ranks'
--                                  devices; NULL in archives that an earlier hta_sql wrote
--   lost_gpu_frac  DOUBLE   0-1    lost_gpu_ns / sum of the spans of all ranks of the job. A rank's
--                                  span lasts from the start of its first activity to the end of
--                                  its last, even if only_steps is given
-- check: late_count > 0
-- check: lost_gpu_ns BETWEEN 0 AND wait_ns
-- check: lost_gpu_frac BETWEEN 0 AND 1
-- reads: hidden_late_waits, late_arrivals, late_names, late_roots, paired_members, rank_spans
CREATE OR REPLACE MACRO lost_gpu_time_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure [default: all]
    only_ranks INTEGER[] := NULL,  -- ranks where the delays began [default: all]
    only_steps BIGINT[] := NULL,  -- steps of the late arrivals [default: all]
    min_late_ns BIGINT := 10000  -- ns; a rank is late if it comes at least this long after its peer
) AS TABLE
WITH
members AS MATERIALIZED (
    FROM paired_members(only_jobs)
),
late AS MATERIALIZED (
    FROM late_arrivals(members, only_jobs, min_late_ns)
),
steps_of AS (
    SELECT job, collective_id, min(step) AS step
    FROM members
    WHERE collective_id IS NOT NULL
    GROUP BY job, collective_id
),
roots AS MATERIALIZED (
    SELECT r.*
    FROM late_roots(late) AS r
    JOIN steps_of AS s ON s.job = r.job AND s.collective_id = r.collective_id
    WHERE (only_steps IS NULL OR list_contains(only_steps, s.step))
),
hidden AS (
    FROM hidden_late_waits(roots, members, only_jobs)
),
-- The arrivals where the delays began.
began AS MATERIALIZED (
    SELECT l.*
    FROM late AS l
    SEMI JOIN roots AS r ON r.root_id = l.late_id
),
job_spans AS (
    SELECT job, sum(span_ns) AS span_ns
    FROM rank_spans(only_jobs, NULL)
    GROUP BY job
)
SELECT
    b.job,
    b.rank,
    b.cause,
    b.kernel_name,
    n.op_name,
    n.host_name,
    min(n.host) AS host,
    count(*) AS late_count,
    sum(r.late_ns)::BIGINT AS late_ns,
    sum(r.caused_wait_ns)::BIGINT AS wait_ns,
    CASE
        WHEN count(h.hidden_wait_ns) = count(*)
        THEN sum(r.caused_wait_ns - h.hidden_wait_ns)::BIGINT
    END AS lost_gpu_ns,
    lost_gpu_ns / nullif(any_value(j.span_ns), 0) AS lost_gpu_frac
FROM roots AS r
JOIN began AS b ON b.late_id = r.root_id
JOIN late_names(began, only_jobs) AS n ON n.late_id = r.root_id
JOIN hidden AS h ON h.late_id = r.late_id
JOIN job_spans AS j ON j.job = b.job
WHERE (only_ranks IS NULL OR list_contains(only_ranks, b.rank))
GROUP BY b.job, b.rank, b.cause, b.kernel_name, n.op_name, n.host_name
ORDER BY b.job, lost_gpu_ns DESC, b.rank, b.cause, b.kernel_name, op_name, host_name;
