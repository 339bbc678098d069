-- How much of the time until given instants the intervals of each group cover.
--
-- `intervals` needs group_id, start_ns and end_ns, `instants` group_id, instant_id and at_ns.
-- Returns one row per instant. The time covered between two instants is the difference of their
-- rows.
--
-- In order of start, each interval adds its part after the latest end before it, as in
-- covered_times. The part that lies after the instant is subtracted again.
--
--     a           [======)                adds 7
--     b              [=======)            adds 4, its part past a
--     instants         |            |
--     covered_ns       5            11    7 + 4 - 6 past the first instant
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
