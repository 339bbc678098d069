-- The idle times of whole devices in whole jobs. Findings, and the reasons and the picture of a
-- report, read them. Since they take long to compute, sessions share them on large archives, too.
--
-- `jobs`: jobs to look at (NULL: all).
--
-- reads: device_idle, idle_segments, span_number, traces

-- One row per part of an idle time, as in device_idle, with a kernel_gap_ns of 30000.
--
-- Returns columns of device_idle, and
--
--     rank_number  number of the rank, unique over all jobs
--     gap_number   number of the idle time, the same in every call on the same files
--     part_number  number of the part, in the same way
--
-- shared: session, of any size
CREATE OR REPLACE MACRO job_idle_parts(jobs) AS TABLE
WITH
ranks AS (
    SELECT job, rank, row_number() OVER (ORDER BY job, rank) AS rank_number
    FROM traces
    GROUP BY job, rank
)
SELECT
    p.job,
    p.rank,
    r.rank_number,
    p.device,
    p.step,
    p.event_id,
    p.previous_id,
    p.short_name,
    p.launch_id,
    p.launch_pid,
    p.launch_tid,
    p.idle_since_ns,
    p.gap_ns,
    p.part_start_ns,
    p.part_ns,
    p.cause,
    span_number(r.rank_number, p.event_id) AS gap_number,
    -- An idle time has at most one part with each of these causes.
    4 * span_number(r.rank_number, p.event_id)
    + CASE p.cause WHEN 'host_wait' THEN 1 WHEN 'launching' THEN 2 ELSE 3 END AS part_number
FROM device_idle(jobs, NULL, NULL, 30000) AS p
JOIN ranks AS r ON r.job = p.job AND r.rank = p.rank;

-- What the launching thread had open then: the rows of idle_segments for job_idle_parts, with their
-- job.
--
-- shared: session, of any size
CREATE OR REPLACE MACRO job_idle_segments(jobs) AS TABLE
WITH
parts AS MATERIALIZED (
    FROM job_idle_parts(jobs)
)
SELECT p.job, s.*
FROM idle_segments(parts, jobs, NULL) AS s
JOIN parts AS p ON p.part_number = s.part_number;
