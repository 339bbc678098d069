-- Many small collectives beside each other: each takes its latency, one for all takes it once.
--
-- Gain: the exposed latency of all but the first of them. The shortest call stands for the latency.
--
-- needs: collectives
--
-- reads: humane_bytes, humane_ns
CREATE OR REPLACE MACRO find_small_collectives(comm_kinds, comm_ranks) AS TABLE
WITH
smallest AS (
    SELECT
        *,
        label || coalesce(' in ' || group_label, '') AS name,
        sum(small_count) OVER of_group AS all_count,
        max(bytes) OVER of_group AS most_bytes
    FROM query_table(comm_kinds)
    WHERE small_ns > 0
    WINDOW of_group AS (PARTITION BY job, rank, label, group_label)
    QUALIFY row_number() OVER (PARTITION BY job ORDER BY small_ns DESC, rank, label) = 1
)
SELECT
    s.job,
    r.rank,
    NULL::VARCHAR AS topic,
    s.name AS subject,
    'Many small calls of ' || s.name || ' follow each other' AS title,
    format(
        '{:g} calls of {} {} follow another one without computation between them. Each '
        || 'transfers {} at most, and takes {} or more, however small it is.',
        round(s.all_count, 1),
        s.name,
        s.per_unit,
        humane_bytes(s.most_bytes),
        humane_ns(s.latency_ns)
    ) AS evidence,
    json_object(
        'call_count', round(s.all_count, 1),
        'most_bytes', s.most_bytes,
        'latency_ns', s.latency_ns,
        'exposed_latency_ns', r.small_ns
    ) AS numbers,
    r.small_gain_ns AS gain_ns,
    'latency × count' AS gain_method,
    'medium' AS confidence,
    'Put the tensors of these calls into one bucket and communicate them in one call.' AS advice,
    'collective_bandwidth' AS see,
    true AS is_of_job
FROM smallest AS s
JOIN query_table(comm_ranks) AS r ON r.job = s.job
WHERE r.small_gain_ns > 0;
