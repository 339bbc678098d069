-- The GPU waits for the host: it has finished all that was launched, and nothing new is launched.
--
-- Gain: this idle time, as far as no other rule names its cause (see shared_idle).
--
-- needs: gpu_activities, launches
--
-- reads: humane_ns
CREATE OR REPLACE MACRO find_host_bound(idle_totals) AS TABLE
SELECT
    t.job,
    t.rank,
    NULL::VARCHAR AS topic,
    CASE
        WHEN 2 * t.host_ns > t.idle_ns THEN coalesce(t.host_name, 'host')
        WHEN 2 * t.outer_ns > t.idle_ns THEN coalesce(t.outer_name, t.host_name)
        ELSE 'host'
    END AS subject,
    'The GPU waits for the host' || CASE
        WHEN 2 * t.host_ns > t.idle_ns THEN coalesce(', most of the time in ' || t.host_name, '')
        WHEN 2 * t.outer_ns > t.idle_ns
        THEN coalesce(', most of the time below ' || t.outer_name, '')
        ELSE ''
    END AS title,
    format(
        'The GPU is idle for {} {} because the host has launched nothing to run.{}{}',
        humane_ns(t.idle_ns),
        t.per_unit,
        coalesce(
            format(
                ' In {} of it the host is in {}{}.',
                humane_ns(t.host_ns),
                t.host_name,
                coalesce(format(', in {} in {}', humane_ns(t.second_ns), t.second_name), '')
            ),
            ''
        ),
        CASE
            WHEN t.outer_name <> t.host_name
            THEN format(' {} of it lies below {}.', humane_ns(t.outer_ns), t.outer_name)
            ELSE ''
        END
    ) AS evidence,
    t.numbers,
    t.idle_ns AS gain_ns,
    'exposed idle' AS gain_method,
    'medium' AS confidence,
    'Record the steps as CUDA graphs or use torch.compile, give the GPU more work per launch (a '
    || 'larger batch), or move Python work off the launching thread.' AS advice,
    'idle_reasons --top-k 20' AS see
FROM query_table(idle_totals) AS t
WHERE t.rule = 'host_bound';
