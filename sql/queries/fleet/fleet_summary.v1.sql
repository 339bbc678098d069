-- How all jobs used their GPU time, by team or another tag and by week.
--
-- The query adds up the stored rows of job_summary. There is one row for all jobs that have the
-- same value of the tag and began in the same week. Times are sums, and fractions are computed from
-- the sums, so each job counts in proportion to its GPU time. The query reads what `hta-sql
-- materialize` has stored. Jobs without stored results are left out, with a warning.
--
-- GPU time covers only what was traced: a week-long job with three traced steps counts with those
-- three steps. It runs from the first activity of a GPU to its last. So busy_frac and idle_frac do
-- not count that a GPU waits before its first activity or after its last, while the host is in a
-- step. utilisation_frac counts this wait, which is outside_ns.
--
-- Weeks begin on Monday at 0:00 UTC. If a job does not have the tag, its tag_value is NULL. A job's
-- date comes from its traces, or else from its tag `time`. If a job has neither, its week is NULL.
-- Such jobs are left out if since_day or until_day is given.
--
-- since: 0.1
-- grain: tag_value, week
-- needs: stored_results
-- returns:
--   tag_value                   VARCHAR  -      value of the tag, such as a team; NULL: no tag
--   week                        DATE     -      Monday of the week of the jobs' start; NULL: no
--                                               date
--   job_count                   BIGINT   count  jobs
--   rank_count                  BIGINT   count  ranks with a trace, over these jobs
--   gpu_hours                   DOUBLE   -      gpu_span_ns in hours
--   gpu_span_ns                 BIGINT   ns     from a GPU's first activity to its last
--   outside_ns                  BIGINT   ns     step time before a GPU's first activity or after
--                                               its last; NULL: not known for all of the jobs,
--                                               because an earlier hta_sql stored some results
--   busy_ns                     BIGINT   ns     GPU time with one activity or more
--   compute_ns                  BIGINT   ns     GPU time with computation
--   exposed_communication_ns    BIGINT   ns     GPU time with communication, but no computation
--   exposed_memory_ns           BIGINT   ns     GPU time with copies or memsets and nothing else
--   idle_ns                     BIGINT   ns     GPU time without any activity
--   lost_gpu_ns                 BIGINT   ns     GPU time spent waiting for late ranks, over the
--                                               jobs with a known value; NULL: no such job
--   lost_gpu_hours              DOUBLE   -      lost_gpu_ns in hours
--   utilisation_frac            DOUBLE   0-1    busy_ns / (gpu_span_ns + outside_ns)
--   busy_frac                   DOUBLE   0-1    busy_ns / gpu_span_ns
--   compute_frac                DOUBLE   0-1    compute_ns / gpu_span_ns
--   exposed_communication_frac  DOUBLE   0-1    exposed_communication_ns / gpu_span_ns
--   idle_frac                   DOUBLE   0-1    idle_ns / gpu_span_ns
--   lost_gpu_frac               DOUBLE   0-1    lost_gpu_ns / gpu_span_ns of the jobs with a known
--                                               lost_gpu_ns
-- check: job_count > 0 AND rank_count >= job_count
-- check: busy_ns + idle_ns = gpu_span_ns
-- check: compute_ns + exposed_communication_ns + exposed_memory_ns = busy_ns
-- check: least(compute_ns, exposed_communication_ns, exposed_memory_ns, idle_ns) >= 0
-- check: lost_gpu_ns >= 0 AND outside_ns >= 0
-- check: (busy_frac IS NULL) = (gpu_span_ns = 0)
-- check: dayofweek(week) = 1
-- reads: job_tags, jobs, stored_job_summary
CREATE OR REPLACE MACRO fleet_summary_v1(
    by_tag VARCHAR := 'team',  -- tag that groups the jobs
    since_day VARCHAR := NULL,  -- only jobs that began on this day or later, such as 2026-01-31
                                -- [default: all]
    until_day VARCHAR := NULL  -- only jobs that began before this day [default: all]
) AS TABLE
WITH
picked AS (
    -- The date is read from `jobs`, since a tag may be newer than the stored results.
    SELECT g.value AS tag_value, date_trunc('week', j.started_at)::DATE AS week, s.*
    FROM stored_job_summary AS s
    INNER JOIN jobs AS j ON j.job = s.job
    LEFT JOIN job_tags AS g ON g.job = s.job AND g.tag = by_tag
    WHERE (since_day IS NULL OR j.started_at >= since_day::DATE)
      AND (until_day IS NULL OR j.started_at < until_day::DATE)
)
SELECT
    tag_value,
    week,
    count(*) AS job_count,
    sum(rank_count)::BIGINT AS rank_count,
    sum(gpu_span_ns) / 3.6e12 AS gpu_hours,
    sum(p.gpu_span_ns)::BIGINT AS gpu_span_ns,
    CASE WHEN count(p.outside_ns) = count(*) THEN sum(p.outside_ns)::BIGINT END AS outside_ns,
    sum(p.busy_ns)::BIGINT AS busy_ns,
    sum(p.compute_ns)::BIGINT AS compute_ns,
    sum(p.exposed_communication_ns)::BIGINT AS exposed_communication_ns,
    sum(p.exposed_memory_ns)::BIGINT AS exposed_memory_ns,
    sum(p.idle_ns)::BIGINT AS idle_ns,
    sum(p.lost_gpu_ns)::BIGINT AS lost_gpu_ns,
    sum(p.lost_gpu_ns) / 3.6e12 AS lost_gpu_hours,
    CASE
        WHEN count(p.outside_ns) = count(*)
        THEN sum(p.busy_ns) / nullif(sum(p.gpu_span_ns + p.outside_ns), 0)
    END AS utilisation_frac,
    sum(p.busy_ns) / nullif(sum(p.gpu_span_ns), 0) AS busy_frac,
    sum(p.compute_ns) / nullif(sum(p.gpu_span_ns), 0) AS compute_frac,
    sum(p.exposed_communication_ns) / nullif(sum(p.gpu_span_ns), 0)
        AS exposed_communication_frac,
    sum(p.idle_ns) / nullif(sum(p.gpu_span_ns), 0) AS idle_frac,
    sum(p.lost_gpu_ns)
        / nullif(sum(p.gpu_span_ns) FILTER (p.lost_gpu_ns IS NOT NULL), 0) AS lost_gpu_frac
FROM picked AS p
GROUP BY tag_value, week
ORDER BY tag_value, week;
