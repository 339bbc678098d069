-- One row per part of an idle time, cut at the launch of the activity that ends the idle time.
--
-- `activities` has launch_id, launch_start_ns and launch_end_ns, and the columns for idle_times.
-- `kernel_gap_ns`: a kernel_wait is shorter than this (ns).
--
-- Returns the columns of idle_times for the activity that ends the idle time, and
--
--     gap_number     number of the idle time, unique in the result
--     part_number    number of the part, unique in the result
--     cause          cause of the part
--     part_start_ns  start of the part
--     part_ns        duration of the part, above 0
--
-- The parts of an idle time add up to gap_ns:
--
--     launch                   [ call  )
--     stream    [=====)                             [=====)
--     parts           host_wait launching  queued
--
--   * host_wait: until the launch begins. There is nothing to run.
--   * launching: until the launch returns.
--   * queued: until the activity starts. If this part is shorter than kernel_gap_ns, it is a
--     kernel_wait.
--   * unknown: the whole idle time, if the activity has no launch.
--
-- A launch that begins before the idle time, or returns after the activity has started, is cut to
-- the idle time. One launch of a graph starts many activities. Only the first of them waits for the
-- launch. Idle time before the others is queued or kernel_wait.
--
-- reads: idle_times
CREATE OR REPLACE MACRO idle_parts(activities, kernel_gap_ns) AS TABLE
WITH
gaps AS (
    SELECT *, row_number() OVER () AS gap_number
    FROM idle_times(activities)
),
-- The launches that begin or return after the idle time began. The others need no cut.
late_launches AS (
    SELECT DISTINCT job, rank, launch_id
    FROM gaps
    WHERE greatest(launch_start_ns, launch_end_ns) > idle_since_ns
),
-- The first activity of each of these that has several activities.
shared_launches AS (
    SELECT
        a.job,
        a.rank,
        a.launch_id,
        min({'start_ns': a.start_ns, 'event_id': a.event_id}).event_id AS first_id
    FROM query_table(activities) AS a
    SEMI JOIN late_launches AS l
        ON l.job = a.job AND l.rank = a.rank AND l.launch_id = a.launch_id
    GROUP BY a.job, a.rank, a.launch_id
    HAVING count(*) > 1
),
cuts AS (
    SELECT
        gaps.*,
        CASE
            WHEN gaps.event_id <> s.first_id THEN gaps.idle_since_ns
            ELSE least(greatest(gaps.launch_start_ns, gaps.idle_since_ns), gaps.start_ns)
        END AS begun_ns,
        CASE
            WHEN gaps.event_id <> s.first_id THEN gaps.idle_since_ns
            ELSE least(greatest(gaps.launch_end_ns, begun_ns), gaps.start_ns)
        END AS returned_ns
    FROM gaps
    LEFT JOIN shared_launches AS s
        ON s.job = gaps.job AND s.rank = gaps.rank AND s.launch_id = gaps.launch_id
),
parts AS (
    SELECT
        * EXCLUDE (begun_ns, returned_ns),
        unnest(
            CASE
                WHEN launch_id IS NULL
                THEN [{
                    'part_number': 3 * gap_number,
                    'cause': 'unknown',
                    'part_start_ns': idle_since_ns,
                    'part_ns': gap_ns
                }]
                ELSE [
                    {
                        'part_number': 3 * gap_number,
                        'cause': 'host_wait',
                        'part_start_ns': idle_since_ns,
                        'part_ns': begun_ns - idle_since_ns
                    },
                    {
                        'part_number': 3 * gap_number + 1,
                        'cause': 'launching',
                        'part_start_ns': begun_ns,
                        'part_ns': returned_ns - begun_ns
                    },
                    {
                        'part_number': 3 * gap_number + 2,
                        'cause': CASE
                            WHEN start_ns - returned_ns < kernel_gap_ns THEN 'kernel_wait'
                            ELSE 'queued'
                        END,
                        'part_start_ns': returned_ns,
                        'part_ns': start_ns - returned_ns
                    }
                ]
            END,
            recursive := true
        )
    FROM cuts
)
FROM parts
WHERE part_ns > 0;
