-- One row per rank and rule: the idle time that belongs to the rule, and what the host did.
--
-- `idle`: rows of shared_idle.
-- `scopes`: rows of shared_scopes.
--
-- If a rank has several devices, the device with the most idle time of the rule counts. Times and
-- counts are per step, or of the whole trace without steps. Returns job, rank, rule, device,
-- unit_ns, unit and per_unit as in scopes, and
--
--     idle_ns      idle time of the rule
--     gap_count    gaps in which this time lies
--     longest_ns   most time in one gap, not divided by steps
--     is_once      whether one gap has more than half of the time of all measured steps
--     host_name    innermost span with the most of this time; NULL: none was open
--     host_ns      time in this span
--     second_name  the span after it, and second_ns its time
--     outer_name   outermost span with the most time, and outer_ns its time
--     next_name    short name of the activity that ends the gap with the most time
--     longest      a sentence: how long the longest such time is, and what it is before
--     numbers      JSON of the figures above, for the column of this name in findings
--
-- reads: humane_ns
CREATE OR REPLACE MACRO shared_idle_totals(idle, scopes) AS TABLE
WITH
given AS MATERIALIZED (
    SELECT * FROM query_table(idle) WHERE rule IS NOT NULL
),
device_totals AS (
    SELECT
        job,
        rank,
        rule,
        device,
        sum(idle_ns) AS idle_ns,
        sum(gap_count) AS gap_count,
        max(longest_ns) AS longest_ns,
        arg_max(next_name, longest_ns) AS next_name
    FROM given
    GROUP BY job, rank, rule, device
    QUALIFY row_number() OVER (PARTITION BY job, rank, rule ORDER BY sum(idle_ns) DESC, device) = 1
),
host_totals AS (
    SELECT
        job,
        rank,
        rule,
        device,
        max({'ns': idle_ns, 'name': host_name}, 2) AS hosts
    FROM (
        SELECT job, rank, rule, device, host_name, sum(idle_ns) AS idle_ns
        FROM given
        GROUP BY job, rank, rule, device, host_name
    )
    GROUP BY job, rank, rule, device
),
outer_totals AS (
    SELECT
        job,
        rank,
        rule,
        device,
        max({'ns': idle_ns, 'name': outer_name}) AS outermost
    FROM (
        SELECT job, rank, rule, device, outer_name, sum(idle_ns) AS idle_ns
        FROM given
        GROUP BY job, rank, rule, device, outer_name
    )
    GROUP BY job, rank, rule, device
)
SELECT
    d.job,
    d.rank,
    d.rule,
    d.device,
    s.unit_ns,
    s.unit,
    s.per_unit,
    (d.idle_ns // s.typical_count)::BIGINT AS idle_ns,
    round(d.gap_count / s.typical_count, 1) AS gap_count,
    d.longest_ns,
    2 * d.longest_ns > d.idle_ns AS is_once,
    h.hosts[1].name AS host_name,
    (h.hosts[1].ns // s.typical_count)::BIGINT AS host_ns,
    h.hosts[2].name AS second_name,
    (h.hosts[2].ns // s.typical_count)::BIGINT AS second_ns,
    o.outermost.name AS outer_name,
    (o.outermost.ns // s.typical_count)::BIGINT AS outer_ns,
    d.next_name,
    format('The longest such time is {}, before {}.', humane_ns(d.longest_ns), d.next_name)
        AS longest,
    json_object(
        'idle_ns', idle_ns,
        'gap_count', gap_count,
        'longest_ns', d.longest_ns,
        'is_once', is_once,
        'host_name', host_name,
        'host_ns', host_ns,
        'outer_name', outer_name,
        'outer_ns', outer_ns,
        'next_name', d.next_name
    ) AS numbers
FROM device_totals AS d
JOIN host_totals AS h
    ON h.job = d.job
    AND h.rank = d.rank
    AND h.rule = d.rule
    AND h.device IS NOT DISTINCT FROM d.device
JOIN outer_totals AS o
    ON o.job = d.job
    AND o.rank = d.rank
    AND o.rule = d.rule
    AND o.device IS NOT DISTINCT FROM d.device
JOIN query_table(scopes) AS s ON s.job = d.job AND s.rank = d.rank;
