-- The GPU time that ranks lost waiting for others, charged to who and what it began with.
--
-- For each late arrival at a collective, straggler_blame finds the rank, the cause and the kernel
-- or operator where it began. All that the other members then waited is charged to these, as far as
-- no computation on their devices hid it:
--
--     lost_gpu_ns = sum, over collectives and over their members, of exposed_wait_ns
--
-- (collective_members has it a rank). The rank may be none of the collective's: one that was waited
-- for in another group, or that sent a message late. What a chain of more than one hop lost is
-- counted at each of its collectives: their members are different ranks, or waited at different
-- times.
--
-- HTA has no counterpart.
--
-- since: 0.1
-- grain: job, rank, cause, kernel_name, op_name, host_name
-- returns:
--   job            VARCHAR  -      run of a program
--   rank           INTEGER  -      with whom it began
--   cause          VARCHAR  -      as in straggler_blame
--   kernel_name    VARCHAR  -      kernel or copy that took longer there
--   op_name        VARCHAR  -      operator that launched it, or what ended the idle gap
--   host_name      VARCHAR  -      what the host did while the device stood idle
--   host           VARCHAR  -      machine of the rank, where its trace names it
--   late_count     BIGINT   count  late arrivals that began so
--   late_ns        BIGINT   ns     sum of how late they were
--   wait_ns        BIGINT   ns     what all others waited
--   lost_gpu_ns    BIGINT   ns     of this, time without computation on their devices; NULL
--                                 where some hidden_ns is not known
--   lost_gpu_frac  DOUBLE   0-1    of the time of all ranks of the job, each from its first
--                                  activity to its last
-- check: late_count > 0
-- check: lost_gpu_ns BETWEEN 0 AND wait_ns
-- check: lost_gpu_frac BETWEEN 0 AND 1
CREATE OR REPLACE MACRO lost_gpu_time_v1(
    only_jobs VARCHAR[] := NULL,  -- jobs to measure; NULL means all
    only_ranks INTEGER[] := NULL,  -- report what began with these ranks; NULL means all
    only_steps BIGINT[] := NULL,  -- late arrivals in these steps; NULL means all
    min_late_ns BIGINT := 10000  -- count those that came that much after their peer, or more
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
steps_of AS (
    SELECT job, collective_id, min(step) AS step
    FROM members
    WHERE collective_id IS NOT NULL
    GROUP BY job, collective_id
),
-- The first of each chain, and the last.
roots AS MATERIALIZED (
    SELECT d.late_id, d.job, d.collective_id, d.late_ns, d.caused_wait_ns, c.late_id AS root_id
    FROM chains AS c
    JOIN direct AS d ON d.job = c.job AND d.collective_id = c.chain_id
    JOIN steps_of AS s ON s.job = d.job AND s.collective_id = d.collective_id
    WHERE c.is_root
      AND (only_steps IS NULL OR list_contains(only_steps, s.step))
),
waits AS (
    SELECT
        r.late_id,
        m.job,
        m.rank,
        m.event_id,
        m.device,
        m.start_ns,
        m.dur_ns,
        m.wait_ns,
        m.computed_before_ns,
        m.hidden_ns
    FROM members AS m
    JOIN roots AS r ON r.job = m.job AND r.collective_id = m.collective_id
    WHERE m.wait_ns > 0
),
computations AS (
    SELECT a.job, a.rank, a.device, a.start_ns, a.dur_ns, a.computed_before_ns
    FROM gpu_activities AS a
    WHERE a.kind = 'computation'
      AND (only_jobs IS NULL OR list_contains(only_jobs, a.job))
),
hidden AS (
    SELECT
        late_id,
        -- NULL where a wait's is not known.
        CASE
            WHEN count(hidden_wait_ns) = count(*) THEN sum(hidden_wait_ns)::BIGINT
        END AS hidden_wait_ns
    FROM hidden_waits(waits, computations)
    GROUP BY late_id
),
gap_ends AS MATERIALIZED (
    SELECT DISTINCT d.late_id, d.job, d.rank, d.event_id, d.at_ns
    FROM direct AS d
    SEMI JOIN roots AS r ON r.root_id = d.late_id
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
),
rank_spans AS (
    SELECT a.job, a.rank, max(a.end_ns) - min(a.start_ns) AS span_ns
    FROM gpu_activities AS a
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, a.job))
    GROUP BY a.job, a.rank
),
job_spans AS (
    SELECT job, sum(span_ns) AS span_ns
    FROM rank_spans
    GROUP BY job
)
SELECT
    d.job,
    d.rank,
    d.cause,
    d.kernel_name,
    o.name AS op_name,
    h.name AS host_name,
    min(m.host) AS host,
    count(*) AS late_count,
    sum(r.late_ns)::BIGINT AS late_ns,
    sum(r.caused_wait_ns)::BIGINT AS wait_ns,
    CASE
        WHEN count(x.hidden_wait_ns) = count(*)
        THEN sum(r.caused_wait_ns - x.hidden_wait_ns)::BIGINT
    END AS lost_gpu_ns,
    lost_gpu_ns / nullif(any_value(j.span_ns), 0) AS lost_gpu_frac
FROM roots AS r
JOIN direct AS d ON d.late_id = r.root_id
JOIN hidden AS x ON x.late_id = r.late_id
JOIN job_spans AS j ON j.job = d.job
LEFT JOIN machines AS m ON m.job = d.job AND m.rank = d.rank
LEFT JOIN op_names AS o ON o.job = d.job AND o.rank = d.rank AND o.op_id = d.op_id
LEFT JOIN host AS h ON h.instant_id = d.late_id
WHERE (only_ranks IS NULL OR list_contains(only_ranks, d.rank))
GROUP BY d.job, d.rank, d.cause, d.kernel_name, o.name, h.name
ORDER BY d.job, lost_gpu_ns DESC, d.rank, d.cause, d.kernel_name, op_name, host_name;
