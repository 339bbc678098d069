-- One row per span of `points`: how long the span's thread waits for a device during the span, and
-- how long a device is busy during these waits.
--
-- `points` has job, rank, start_ns, end_ns and:
--
--     point    a number per span
--     kind     `operator`: an operator. Any other value: a call in which the
--              thread waits, such as a row of waiting_calls
--     process  a number per job and rank
--     thread   a number per thread
--
-- `only_jobs`, `only_ranks`: the jobs and ranks in `points`; only their activities are read
--   (NULL: all).
--
-- Returns point, wait_ns and gpu_busy_ns. wait_ns is the time of the span during which at least one
-- waiting call of the thread runs. gpu_busy_ns is the part of wait_ns during which at least one
-- device of the rank is busy.
--
-- For gpu_busy_ns, each start and end of a span is replaced by a time on the busy clock, which runs
-- only while a device of the rank is busy. On this clock, a wait lasts as long as the
-- device is busy during the wait.
--
-- covered_until needs an instant_id: for the start of a span it is 2 * point, and for the end of
-- the span it is 2 * point + 1.
--
-- reads: covered_until, gpu_activities
CREATE OR REPLACE MACRO waited_times(points, only_jobs, only_ranks) AS TABLE
WITH
processes AS (
    SELECT DISTINCT job, rank, process
    FROM query_table(points)
),
busy_spans AS (
    SELECT processes.process AS group_id, a.start_ns, a.end_ns
    FROM gpu_activities AS a
    JOIN processes ON processes.job = a.job AND processes.rank = a.rank
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, a.job))
      AND (only_ranks IS NULL OR list_contains(only_ranks, a.rank))
),
process_instants AS (
    SELECT process AS group_id, 2 * point AS instant_id, start_ns AS at_ns
    FROM query_table(points)
    UNION ALL
    SELECT process AS group_id, 2 * point + 1 AS instant_id, end_ns AS at_ns
    FROM query_table(points)
),
busy_clock AS (
    SELECT
        instant_id // 2 AS point,
        max(covered_ns) FILTER (instant_id % 2 = 0) AS start_ns,
        max(covered_ns) FILTER (instant_id % 2 = 1) AS end_ns
    FROM covered_until(busy_spans, process_instants)
    GROUP BY instant_id // 2
),
clocked AS MATERIALIZED (
    SELECT
        p.thread,
        p.point,
        p.kind <> 'operator' AS is_call,
        p.start_ns,
        p.end_ns,
        busy_clock.start_ns AS busy_start_ns,
        busy_clock.end_ns AS busy_end_ns
    FROM query_table(points) AS p
    JOIN busy_clock ON busy_clock.point = p.point
),
waits AS (
    SELECT thread AS group_id, start_ns, end_ns
    FROM clocked
    WHERE is_call
),
thread_instants AS (
    SELECT thread AS group_id, 2 * point AS instant_id, start_ns AS at_ns FROM clocked
    UNION ALL
    SELECT thread AS group_id, 2 * point + 1 AS instant_id, end_ns AS at_ns FROM clocked
),
busy_waits AS (
    SELECT thread AS group_id, busy_start_ns AS start_ns, busy_end_ns AS end_ns
    FROM clocked
    WHERE is_call
),
busy_instants AS (
    SELECT thread AS group_id, 2 * point AS instant_id, busy_start_ns AS at_ns FROM clocked
    UNION ALL
    SELECT thread AS group_id, 2 * point + 1 AS instant_id, busy_end_ns AS at_ns FROM clocked
),
waited AS (
    SELECT instant_id, covered_ns AS wait_ns, 0::BIGINT AS gpu_busy_ns
    FROM covered_until(waits, thread_instants)
    UNION ALL
    SELECT instant_id, 0::BIGINT AS wait_ns, covered_ns AS gpu_busy_ns
    FROM covered_until(busy_waits, busy_instants)
)
SELECT
    instant_id // 2 AS point,
    sum(CASE WHEN instant_id % 2 = 1 THEN wait_ns ELSE -wait_ns END) AS wait_ns,
    sum(CASE WHEN instant_id % 2 = 1 THEN gpu_busy_ns ELSE -gpu_busy_ns END) AS gpu_busy_ns
FROM waited
GROUP BY instant_id // 2;
