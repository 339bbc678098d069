-- An activity is launched, nothing runs on the device, and the activity starts late all the same.
--
-- Gain: the idle time from the return of the launch to the start of the activity, in parts of
-- `long_wait_ns` or more. The rule is silent on a rank with more than `most_lost_frac` launches
-- without a kernel: the device may have run kernels that the trace lacks.
--
-- needs: gpu_activities, launches
--
-- reads: humane_ns, limit_of
CREATE OR REPLACE MACRO find_stalled_after_launch(idle_totals, lost_launches) AS TABLE
SELECT
    t.job,
    t.rank,
    NULL::VARCHAR AS topic,
    coalesce(t.host_name, t.next_name) AS subject,
    'Launched work starts late on an idle GPU'
        || coalesce(', while the host is in ' || t.host_name, '') AS title,
    format(
        'The GPU is idle for {} {} although work is launched{}. {}',
        humane_ns(t.idle_ns),
        t.per_unit,
        coalesce(
            format('; for {} of it the host is in {}', humane_ns(t.host_ns), t.host_name), ''
        ),
        t.longest
    ) AS evidence,
    t.numbers,
    t.idle_ns AS gain_ns,
    'exposed idle' AS gain_method,
    CASE WHEN t.is_once THEN 'low' ELSE 'medium' END AS confidence,
    CASE
        WHEN t.is_once
        THEN 'Warm up before the profiled window. If it comes back, look at the call that is open '
            || 'on the host, at loads of modules, clock or power states, and other processes on '
            || 'the GPU.'
        ELSE 'Look at the call that is open on the host: allocations, loads of modules, clock or '
            || 'power states, and other processes on the GPU.'
    END AS advice,
    'idle_gaps' AS see
FROM query_table(idle_totals) AS t
LEFT JOIN query_table(lost_launches) AS l ON l.job = t.job AND l.rank = t.rank
WHERE t.rule = 'stalled_after_launch'
  AND coalesce(l.lost_frac, 0) <= limit_of('stalled_after_launch', 'most_lost_frac');
