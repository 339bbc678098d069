-- Each part of an idle time of a device in typical steps, as in device_idle.
--
-- `only_jobs`: jobs to look at (NULL: all).
-- `steady`: rows of shared_steady.
-- `lost_launches`: rows of shared_lost_launches.
--
-- A rank whose trace is thinned out has no rows: the device may have run what the trace lacks.
--
-- Returns the columns of device_idle that idle_segments and shared_idle need, and
--
--     rank_number  number of the rank, unique over all jobs
--     is_long      whether the part lasts long_wait_ns or more
--     is_short     whether the idle time is short enough for launch_overhead
--
-- reads: device_idle, in_measured_steps, limit_of, traces
CREATE OR REPLACE MACRO shared_typical_idle(only_jobs, steady, lost_launches) AS TABLE
WITH
of_jobs AS (
    FROM device_idle(only_jobs, NULL, NULL, 30000)
),
typical AS (
    SELECT *
    FROM query_table(steady)
    WHERE is_typical
),
ranks AS (
    SELECT t.job, t.rank, row_number() OVER () AS rank_number
    FROM traces AS t
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, t.job))
)
SELECT
    p.job,
    p.rank,
    r.rank_number,
    p.device,
    p.event_id,
    p.previous_id,
    p.short_name AS next_name,
    p.launch_id,
    p.launch_pid,
    p.launch_tid,
    p.idle_since_ns,
    p.gap_number,
    p.part_number,
    p.part_start_ns,
    p.part_ns,
    p.cause,
    p.part_ns >= limit_of('all', 'long_wait_ns') AS is_long,
    p.gap_ns <= limit_of('launch_overhead', 'longest_gap_ns') AS is_short
FROM in_measured_steps(of_jobs, typical) AS p
JOIN ranks AS r ON r.job = p.job AND r.rank = p.rank
ANTI JOIN (FROM query_table(lost_launches) WHERE is_sampled) AS l
    ON l.job = p.job AND l.rank = p.rank;
