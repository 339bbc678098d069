-- Launch calls that take long while the GPU is idle.
--
-- A call takes long if it loads a module for the first time, uploads a graph, or waits for a place
-- in a full launch queue. Gain: the idle time inside such calls.
--
-- needs: gpu_activities, launches
--
-- reads: humane_ns
CREATE OR REPLACE MACRO find_slow_launches(idle_totals) AS TABLE
SELECT
    t.job,
    t.rank,
    NULL::VARCHAR AS topic,
    t.host_name AS subject,
    CASE
        WHEN t.is_once THEN 'One slow launch call leaves the GPU idle'
        ELSE 'Slow launch calls leave the GPU idle'
    END AS title,
    format(
        'The GPU is idle for {} {} inside launch calls that take long{}. {}',
        humane_ns(t.idle_ns),
        t.per_unit,
        coalesce(format(', for {} of it in {}', humane_ns(t.host_ns), t.host_name), ''),
        t.longest
    ) AS evidence,
    t.numbers,
    t.idle_ns AS gain_ns,
    'exposed idle' AS gain_method,
    CASE WHEN t.is_once THEN 'low' ELSE 'medium' END AS confidence,
    CASE
        WHEN t.is_once AND prefix(t.host_name, 'hip')
        THEN 'Warm up before the profiled window: the call probably loads a module for the first '
            || 'time.'
        WHEN t.is_once
        THEN 'Warm up before the profiled window, or set CUDA_MODULE_LOADING=EAGER: the call '
            || 'probably loads a module for the first time.'
        ELSE 'Look for modules that are loaded, graphs that are uploaded, and a full launch queue.'
    END AS advice,
    'idle_gaps' AS see
FROM query_table(idle_totals) AS t
WHERE t.rule = 'slow_launches';
