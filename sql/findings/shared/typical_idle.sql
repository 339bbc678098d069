-- Each part of an idle time of a device in typical steps, as in job_idle_parts.
--
-- `only_jobs`: jobs to look at (NULL: all).
-- `steady`: rows of shared_steady.
-- `lost_launches`: rows of shared_lost_launches.
--
-- A rank whose trace is thinned out has no rows: the device may have run what the trace lacks.
--
-- Returns the columns of job_idle_parts that shared_idle needs, and
--
--     is_long      whether the part lasts long_wait_ns or more
--     is_short     whether the idle time is short enough for launch_overhead
--
-- reads: in_measured_steps, job_idle_parts, limit_of
CREATE OR REPLACE MACRO shared_typical_idle(only_jobs, steady, lost_launches) AS TABLE
WITH
of_jobs AS (
    FROM job_idle_parts(only_jobs)
),
typical AS (
    SELECT *
    FROM query_table(steady)
    WHERE is_typical
)
SELECT
    p.job,
    p.rank,
    p.rank_number,
    p.device,
    p.event_id,
    p.previous_id,
    p.short_name AS next_name,
    p.idle_since_ns,
    p.gap_number,
    p.part_number,
    p.cause,
    p.part_ns >= limit_of('all', 'long_wait_ns') AS is_long,
    p.gap_ns <= limit_of('launch_overhead', 'longest_gap_ns') AS is_short
FROM in_measured_steps(of_jobs, typical) AS p
ANTI JOIN (FROM query_table(lost_launches) WHERE is_sampled) AS l
    ON l.job = p.job AND l.rank = p.rank;
