-- The first steps take much longer than the later ones: they compile, tune and allocate once.
--
-- Other rules leave these steps out. The finding is a warning about the profiled window, without a
-- gain.
--
-- needs: steps
--
-- reads: humane_ns
CREATE OR REPLACE MACRO find_warm_up(slow_steps) AS TABLE
SELECT
    job,
    rank,
    NULL::VARCHAR AS topic,
    coalesce(name, 'first steps') AS subject,
    CASE WHEN slow_count = 1 THEN 'The first step warms up' ELSE format(
        'The first {} steps warm up', slow_count
    ) END AS title,
    format(
        '{} takes {} on average, a typical later step {}. The other findings leave {} out.{}',
        CASE WHEN slow_count = 1 THEN 'The first step' ELSE format(
            'Each of the first {} steps', slow_count
        ) END,
        humane_ns(slow_ns),
        humane_ns(typical_ns),
        CASE WHEN slow_count = 1 THEN 'it' ELSE 'them' END,
        coalesce(format(' {} takes {} more in it.', name, humane_ns(name_ns)), '')
    ) AS evidence,
    json_object(
        'first_count', slow_count,
        'first_ns', slow_ns,
        'typical_ns', typical_ns,
        'cause', cause,
        'name', name,
        'name_ns', name_ns
    ) AS numbers,
    NULL::BIGINT AS gain_ns,
    NULL::VARCHAR AS gain_method,
    'high' AS confidence,
    'Start to record later: give the profiler''s schedule more wait and warmup steps.' AS advice,
    'profiler_steps' AS see
FROM query_table(slow_steps)
WHERE kind = 'first';
