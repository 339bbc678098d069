-- Some steps take much longer than others.
--
-- The rule needs `least_steps` measured steps. It fires if their 95th percentile is at least
-- `least_times` the median. Gain: mean minus median of the steps. This is what a step takes on
-- average beyond a typical step: the length by which long steps exceed it, times their share.
--
-- If a step is long on one rank, the others wait for it. So only ranks whose long steps grow by at
-- least half of the largest growth have the finding. Their growth leaves out exposed communication.
--
-- needs: steps
--
-- reads: humane_ns, limit_of
CREATE OR REPLACE MACRO find_step_variance(slow_steps) AS TABLE
WITH
varied AS (
    SELECT *, max(own_ns) OVER (PARTITION BY job) AS most_own_ns
    FROM query_table(slow_steps)
    WHERE kind = 'long'
      AND step_count >= limit_of('step_variance', 'least_steps')
      AND p95_ns >= limit_of('step_variance', 'least_times') * median_ns
)
SELECT
    job,
    rank,
    NULL::VARCHAR AS topic,
    coalesce(name, cause) AS subject,
    format(
        'Some steps take {:.1f} times as long as the median', slow_ns / median_ns
    ) || coalesce(', most of all because of ' || name, '') AS title,
    format(
        '{} of {} steps take {} on average; the median of all is {}. {}{}.',
        slow_count,
        step_count,
        humane_ns(slow_ns),
        humane_ns(median_ns),
        CASE cause
            WHEN 'host' THEN 'Most of the difference is time without GPU activities: '
            WHEN 'communication'
            THEN 'Most of the difference is communication that nothing hides: '
            WHEN 'memory' THEN 'Most of the difference is copies that nothing hides: '
            ELSE 'Most of the difference is computation: '
        END || humane_ns(cause_ns) || ' per long step',
        coalesce(format('. {} takes {} more', name, humane_ns(name_ns)), '')
    ) AS evidence,
    json_object(
        'long_count', slow_count,
        'step_count', step_count,
        'long_ns', slow_ns,
        'median_ns', median_ns,
        'p95_ns', p95_ns,
        'cause', cause,
        'cause_ns', cause_ns,
        'name', name,
        'name_ns', name_ns
    ) AS numbers,
    greatest(0, mean_ns - median_ns) AS gain_ns,
    'excess over own best' AS gain_method,
    'medium' AS confidence,
    CASE cause
        WHEN 'host'
        THEN 'Look at what the host does only in these steps: checkpoints, logs, evaluation, '
            || 'garbage collection, waits for data.'
        WHEN 'communication'
        THEN 'Look for the rank that is late in these steps, and for traffic on the network.'
        WHEN 'memory' THEN 'Move these copies to a stream of their own, or spread them over steps.'
        ELSE 'Look at what differs in the inputs of these steps, such as longer sequences.'
    END AS advice,
    'step_breakdown' AS see,
    true AS is_of_job
FROM varied
WHERE 2 * own_ns >= most_own_ns;
