-- One row per rank: how complete its runtime calls and their activities are.
--
-- `only_jobs`: jobs to look at (NULL: all).
--
-- Returns job, rank and
--
--     launch_count  calls that launch kernels
--     lost_frac     share of these calls without an activity in the trace
--     is_sampled    whether most runtime calls are missing. CUDA numbers its calls, and a trace
--                   lacks the kinds of calls that the profiler does not record. More than
--                   `most_call_gap` numbers per recorded call mean that somebody thinned the trace
--                   out
--
-- reads: gpu_activities, host_ops, is_call_number, is_runtime_call, limit_of
CREATE OR REPLACE MACRO shared_lost_launches(only_jobs) AS TABLE
WITH
calls AS (
    SELECT
        h.job,
        h.rank,
        h.event_id,
        h.correlation,
        regexp_matches(h.name, '^(cuda|cu|hip)(Ext)?(Module)?Launch(Cooperative)?Kernel')
            AS is_launch
    FROM host_ops AS h
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, h.job))
      AND is_runtime_call(h.cat)
),
launches AS (
    SELECT DISTINCT a.job, a.rank, a.launch_id
    FROM gpu_activities AS a
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, a.job))
)
SELECT
    c.job,
    c.rank,
    count_if(c.is_launch) AS launch_count,
    count_if(c.is_launch AND l.launch_id IS NULL) / nullif(count_if(c.is_launch), 0) AS lost_frac,
    count_if(c.is_launch) > 0
    AND max(c.correlation) FILTER (is_call_number(c.correlation))
        - min(c.correlation) FILTER (is_call_number(c.correlation))
        > count(c.correlation) * limit_of('all', 'most_call_gap') AS is_sampled
FROM calls AS c
LEFT JOIN launches AS l ON l.job = c.job AND l.rank = c.rank AND l.launch_id = c.event_id
GROUP BY c.job, c.rank;
