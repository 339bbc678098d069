-- For each of `ops`, rows of deep_operators: job, rank, event_id and the totals of what is launched
-- in it, by `launches`, rows of deep_launches.
CREATE OR REPLACE MACRO launched_in_deep_ops(launches, ops) AS TABLE
WITH
at_places AS (
    SELECT
        place,
        sum(activity_count) AS activity_count,
        sum(activity_ns) AS activity_ns,
        min(first_start_ns) AS first_start_ns,
        max(last_end_ns) AS last_end_ns
    FROM query_table(launches)
    GROUP BY place
)
SELECT
    o.job,
    o.rank,
    o.event_id,
    sum(l.activity_count) OVER inside AS activity_count,
    sum(l.activity_ns) OVER inside AS activity_ns,
    min(l.first_start_ns) OVER inside AS first_start_ns,
    max(l.last_end_ns) OVER inside AS last_end_ns
FROM query_table(ops) AS o
LEFT JOIN at_places AS l ON l.place = o.place
WINDOW inside AS (
    PARTITION BY o.block
    ORDER BY o.place
    RANGE BETWEEN CURRENT ROW AND o.last_place - o.place FOLLOWING
);
