-- The GPU waits for the host: it has finished all that was launched, and nothing new is launched.
--
-- Gain: this idle time, as far as no other rule names its cause (see shared_idle).
--
-- needs: gpu_activities, launches
--
-- reads: humane_ns
CREATE OR REPLACE MACRO find_host_bound(idle_totals) AS TABLE
WITH
-- An entry frame is open all the time, so its name does not help.
named AS (
    SELECT
        * EXCLUDE (outer_name),
        CASE WHEN NOT regexp_matches(outer_name, '\): |^\[') THEN outer_name END AS outer_name,
        2 * host_ns > idle_ns AS is_in_one,
        2 * outer_ns > idle_ns AS is_below_one
    FROM query_table(idle_totals)
    WHERE rule = 'host_bound'
)
SELECT
    t.job,
    t.rank,
    NULL::VARCHAR AS topic,
    CASE
        WHEN t.is_in_one THEN coalesce(t.host_name, 'host')
        WHEN t.is_below_one THEN coalesce(t.outer_name, t.host_name)
        ELSE 'host'
    END AS subject,
    'The GPU waits for the host' || CASE
        WHEN t.is_in_one AND t.host_name IS NULL THEN ', which records no event meanwhile'
        WHEN t.is_in_one THEN ', most of the time in ' || t.host_name
        WHEN t.is_below_one AND t.outer_name IS NOT NULL
        THEN ', most of the time below ' || t.outer_name
        WHEN t.host_name IS NOT NULL THEN ', most of all in ' || t.host_name
        ELSE ''
    END AS title,
    format(
        'The GPU is idle for {} {} because the host has launched nothing to run.{}{}',
        humane_ns(t.idle_ns),
        t.per_unit,
        CASE
            WHEN t.host_name IS NULL
            THEN format(' In {} of it the trace has no event of the launching thread.',
                humane_ns(t.host_ns))
            ELSE format(
                ' In {} of it the host is in {}{}.',
                humane_ns(t.host_ns),
                t.host_name,
                coalesce(format(', in {} in {}', humane_ns(t.second_ns), t.second_name), '')
            )
        END,
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
    CASE
        WHEN t.is_in_one AND t.host_name IS NULL
        THEN 'Find out what the program does there: record with with_stack=True, or put '
            || 'record_function around its parts.'
        ELSE 'Record the steps as CUDA graphs or use torch.compile, give the GPU more work per '
            || 'launch (a larger batch), or move Python work off the launching thread.'
    END AS advice,
    'idle_reasons --top-k 20' AS see
FROM named AS t;
