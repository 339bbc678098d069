-- A rank whose kernels all take longer than those of its peers, so that the peers wait for it.
--
-- Gain: what the kernels take longer, as far as the peers wait for it. If the rank takes longer in
-- single kernels, that time belongs to load_imbalance. If its GPU is idle longer, it belongs to the
-- rules about idle time.
--
-- needs: collectives, ranks
--
-- reads: humane_ns, traces
CREATE OR REPLACE MACRO find_straggler(only_jobs, slow_ranks) AS TABLE
WITH
hosts AS (
    SELECT t.job, t.rank, min(t.host) AS host
    FROM traces AS t
    WHERE (only_jobs IS NULL OR list_contains(only_jobs, t.job))
    GROUP BY t.job, t.rank
),
slow AS (
    SELECT
        *,
        list(rank) OVER of_job AS late_ranks,
        2 * max(slow_gain_ns) OVER of_job < all_slow_gain_ns AS is_shared
    FROM query_table(slow_ranks)
    WHERE slow_ns > 0
    WINDOW of_job AS (PARTITION BY job)
),
-- Several ranks that are slow alike are one finding: one alone gains nothing.
late AS (
    SELECT
        * EXCLUDE (slow_gain_ns),
        CASE
            WHEN is_shared
            THEN 'ranks ' || array_to_string(list_sort(late_ranks)[:8], ', ')
            ELSE format('rank {}', rank)
        END AS who,
        CASE WHEN is_shared THEN all_slow_gain_ns ELSE slow_gain_ns END AS gain_ns
    FROM slow
    QUALIFY NOT is_shared OR row_number() OVER (PARTITION BY job ORDER BY slow_ns DESC, rank) = 1
)
SELECT
    r.job,
    r.rank,
    NULL::VARCHAR AS topic,
    concat(r.who, ' on ' || h.host) AS subject,
    'All kernels are slower on ' || r.who || ' than on its peers' AS title,
    format(
        'On {}, kernels take {:.2f} times as long as on most other ranks: {} more {}. Other ranks '
        || 'wait for it.',
        subject,
        r.slow_times,
        humane_ns(r.slow_ns),
        r.per_unit
    ) AS evidence,
    json_object(
        'slow_times', round(r.slow_times, 3),
        'slow_ns', r.slow_ns,
        'kernel_ns', r.work_ns,
        'usual_ns', r.usual_ns,
        'slow_ranks', list_sort(r.late_ranks),
        'host', h.host
    ) AS numbers,
    r.gain_ns,
    'excess over other ranks' AS gain_method,
    'high' AS confidence,
    'Look at the GPU and host: clocks, temperature, power limits, other processes. If they are '
    || 'fine, compare the input of this rank with that of others.' AS advice,
    'stragglers' AS see,
    true AS is_of_job
FROM late AS r
LEFT JOIN hosts AS h ON h.job = r.job AND h.rank = r.rank
WHERE r.gain_ns > 0;
