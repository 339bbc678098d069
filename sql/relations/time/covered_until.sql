-- One row per instant: covered_ns, the time before the instant in which at least one interval of
-- the instant's group runs.
--
--     intervals  group_id, start_ns and end_ns
--     instants   group_id, instant_id and at_ns
--
-- The time covered between two instants of a group is the difference of their covered_ns.
--
-- The macro takes the intervals in order of start. An interval adds only its part after the latest
-- end of all earlier intervals, as in covered_times. For an instant, the macro sums the parts of
-- the intervals that start before the instant. If the latest end of these intervals is after the
-- instant, the macro subtracts the time from the instant to this end:
--
--     a           [======)                adds 7
--     b              [=======)            adds 4, its part past a
--     instants         |            |
--     covered_ns       5            11
--
-- At the first instant, a and b have added 7 + 4. The latest end is 6 past the instant, so
-- covered_ns is 7 + 4 - 6 = 5. At the second instant, nothing is subtracted.
CREATE OR REPLACE MACRO covered_until(intervals, instants) AS TABLE
WITH
moments AS (
    SELECT group_id, NULL::BIGINT AS instant_id, start_ns AS at_ns, end_ns
    FROM query_table(intervals)
    UNION ALL
    SELECT group_id, instant_id, at_ns, NULL::BIGINT AS end_ns
    FROM query_table(instants)
),
reached AS (
    SELECT
        *,
        max(end_ns) OVER (
            PARTITION BY group_id ORDER BY at_ns, instant_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS until_ns
    FROM moments
),
added AS (
    SELECT
        instant_id,
        -- greatest skips NULL: the first interval's until_ns, and an instant's end_ns.
        greatest(0, until_ns - at_ns) AS ahead_ns,
        sum(greatest(0, end_ns - greatest(at_ns, until_ns))) OVER (
            PARTITION BY group_id ORDER BY at_ns, instant_id ROWS UNBOUNDED PRECEDING
        ) AS added_ns
    FROM reached
)
SELECT instant_id, (added_ns - ahead_ns)::BIGINT AS covered_ns
FROM added
WHERE instant_id IS NOT NULL;
