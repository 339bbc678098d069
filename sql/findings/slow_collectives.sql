-- Collectives and messages that transfer far slower than others of their kind and size.
--
-- Gain: what their exposed transfers take longer than at the 90th percentile of the bandwidth.
--
-- needs: collectives
--
-- reads: humane_bytes, humane_ns
CREATE OR REPLACE MACRO find_slow_collectives(comm_kinds, comm_ranks) AS TABLE
WITH
slow AS (
    SELECT
        *,
        label || coalesce(' in ' || group_label, '') AS name,
        slow_transfer_ns / slow_count AS each_ns,
        list(DISTINCT rank) OVER (PARTITION BY job, label, group_label) AS slow_ranks
    FROM query_table(comm_kinds)
    WHERE slow_ns > 0
),
slowest AS (
    SELECT
        * EXCLUDE (slow_ranks),
        list_sort(slow_ranks) AS slow_ranks,
        2 * len(slow_ranks) > rank_count AS is_common
    FROM slow
    QUALIFY row_number() OVER (PARTITION BY job ORDER BY slow_ns DESC, rank, name) = 1
)
SELECT
    s.job,
    r.rank,
    NULL::VARCHAR AS topic,
    s.name AS subject,
    'Some calls of ' || s.name || ' are far slower than others' AS title,
    format(
        'Of {:g} calls of {} {}{}, {:g} take far longer than others of the same size: {} for {} '
        || '({:.1f} GB/s) instead of {} ({:.1f} GB/s).',
        round(s.call_count, 1),
        s.name,
        s.per_unit,
        CASE
            WHEN s.is_common THEN ''
            ELSE ' on ranks ' || array_to_string(s.slow_ranks[:8], ', ')
        END,
        round(s.slow_count, 1),
        humane_ns(s.each_ns),
        humane_bytes(s.bytes),
        s.bytes / s.each_ns,
        humane_ns(s.usual_ns),
        s.bytes / s.usual_ns
    ) AS evidence,
    json_object(
        'slow_count', round(s.slow_count, 1),
        'call_count', round(s.call_count, 1),
        'bytes', s.bytes,
        'slow_ns', round(s.each_ns)::BIGINT,
        'usual_ns', s.usual_ns,
        'slow_ranks', s.slow_ranks
    ) AS numbers,
    r.slow_gain_ns AS gain_ns,
    'excess over own best' AS gain_method,
    'medium' AS confidence,
    'Look at what is different for these calls: the links between these ranks, other traffic at '
    || 'the same time, and NCCL settings.' AS advice,
    'collectives' AS see,
    true AS is_of_job
FROM slowest AS s
JOIN query_table(comm_ranks) AS r ON r.job = s.job AND (s.is_common OR r.rank = s.rank)
WHERE r.slow_gain_ns > 0;
