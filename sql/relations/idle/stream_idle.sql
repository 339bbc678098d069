-- One row per idle time of a stream and cause: how much of the idle time has the cause.
--
-- `jobs`, `ranks`, `steps`: the activities to measure, as in activities_of.
-- `kernel_gap_ns`: a kernel_wait is shorter than this (ns).
--
-- Returns the columns of idle_parts for the activity that ends the idle time, apart from
-- part_start_ns, and
--
--     cause    cause as in idle_parts, or dependency
--     part_ns  time with this cause, above 0
--
-- A queued part is divided in two. dependency is the time in which another stream of the device is
-- busy, and queued is the rest. Each of the two can have several pieces:
--
--     other streams         [=====)      [====)
--     this stream    [===)                        [===)
--     queued part        .........................
--     dependency            ......       .....
--     queued             ...      .......     ....
--
-- The stream itself is idle. So another stream is busy if the device is busy.
--
-- reads: activities_of, covered_until, idle_parts
CREATE OR REPLACE MACRO stream_idle(jobs, ranks, steps, kernel_gap_ns) AS TABLE
WITH
picked AS (
    FROM activities_of(jobs, ranks, steps)
),
parts AS MATERIALIZED (
    FROM idle_parts(picked, kernel_gap_ns)
),
devices AS MATERIALIZED (
    SELECT row_number() OVER () AS group_id, *
    FROM (
        SELECT DISTINCT job, rank, device
        FROM parts
        WHERE cause = 'queued'
    )
),
busy AS (
    SELECT devices.group_id, picked.start_ns, picked.end_ns
    FROM picked
    JOIN devices
        ON devices.job = picked.job
        AND devices.rank = picked.rank
        AND devices.device IS NOT DISTINCT FROM picked.device
),
queued AS (
    SELECT devices.group_id, parts.part_number, parts.part_start_ns, parts.part_ns
    FROM parts
    JOIN devices
        ON devices.job = parts.job
        AND devices.rank = parts.rank
        AND devices.device IS NOT DISTINCT FROM parts.device
    WHERE parts.cause = 'queued'
),
-- A part begins at an instant with a negative id, and ends at one with a positive id.
instants AS (
    SELECT group_id, -part_number AS instant_id, part_start_ns AS at_ns
    FROM queued
    UNION ALL
    SELECT group_id, part_number AS instant_id, part_start_ns + part_ns AS at_ns
    FROM queued
),
dependencies AS (
    SELECT
        abs(instant_id) AS part_number,
        (max(covered_ns) - min(covered_ns))::BIGINT AS dependency_ns
    FROM covered_until(busy, instants)
    GROUP BY abs(instant_id)
),
divided AS (
    SELECT
        parts.* EXCLUDE (part_number, cause, part_start_ns, part_ns),
        unnest(
            CASE
                WHEN d.dependency_ns IS NULL
                THEN [{'cause': parts.cause, 'part_ns': parts.part_ns}]
                ELSE [
                    {'cause': 'dependency', 'part_ns': d.dependency_ns},
                    {'cause': 'queued', 'part_ns': parts.part_ns - d.dependency_ns}
                ]
            END,
            recursive := true
        )
    FROM parts
    LEFT JOIN dependencies AS d ON d.part_number = parts.part_number
)
FROM divided
WHERE part_ns > 0;
