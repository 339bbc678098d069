-- Communication that nothing hides, without the waits for late ranks: by operation and group.
--
-- Gain: the exposed transfers. What slow calls take longer than usual belongs to slow_collectives,
-- and what one call instead of several would save to small_collectives. If the other members have
-- no trace, waits are not known. Then the shortest call of a kind and size stands for each.
--
-- needs: gpu_activities
--
-- reads: humane_bytes, humane_ns
CREATE OR REPLACE MACRO find_exposed_communication(comm_kinds, comm_ranks) AS TABLE
WITH
parts AS MATERIALIZED (
    SELECT
        job,
        rank,
        label || coalesce(' in ' || group_label, '') AS name,
        sum(moved_ns)::BIGINT AS moved_ns,
        2 * coalesce(sum(moved_ns) FILTER (NOT is_whole), 0) > sum(moved_ns) AS is_bound,
        round(sum(call_count), 1) AS call_count,
        max(bytes) AS most_bytes,
        any_value(per_unit) AS per_unit
    FROM query_table(comm_kinds)
    GROUP BY job, rank, label, group_label
),
names AS (
    SELECT DISTINCT job, name
    FROM parts
),
-- The figures are of the rank with the least waits and transfers: the other ranks wait for it.
bounding AS (
    SELECT
        n.job,
        n.name,
        min({
            'ns': r.waited_ns + coalesce(p.moved_ns, 0),
            'moved_ns': coalesce(p.moved_ns, 0),
            'rank': r.rank
        }) AS least,
        min(r.waited_ns) AS waited_ns
    FROM names AS n
    JOIN query_table(comm_ranks) AS r ON r.job = n.job
    LEFT JOIN parts AS p ON p.job = n.job AND p.rank = r.rank AND p.name = n.name
    GROUP BY n.job, n.name
)
SELECT
    r.job,
    r.rank,
    r.name AS topic,
    r.name AS subject,
    'No computation hides ' || r.name AS title,
    format(
        'The GPU transfers for {} {} in {:g} calls of {}{} while it computes nothing.{}',
        humane_ns(p.moved_ns),
        p.per_unit,
        p.call_count,
        p.name,
        coalesce(' of up to ' || humane_bytes(p.most_bytes), ''),
        CASE
            WHEN p.is_bound
            THEN ' Other members have no trace: the shortest call of a kind stands for each, and '
                || 'may have waited too.'
            ELSE ''
        END
    ) AS evidence,
    json_object(
        'exposed_transfer_ns', p.moved_ns,
        'call_count', p.call_count,
        'most_bytes', p.most_bytes
    ) AS numbers,
    least(b.least.ns - b.waited_ns, b.least.moved_ns) AS gain_ns,
    'exposed time' AS gain_method,
    CASE WHEN p.is_bound THEN 'low' ELSE 'medium' END AS confidence,
    'Start transfers earlier, so that they overlap with computation: bucket gradients, prefetch '
    || 'parameters, use another stream. Or send less: seldom, or in a smaller data type.' AS advice,
    'comm_comp_overlap' AS see,
    true AS is_of_job
FROM bounding AS b
JOIN parts AS p ON p.job = b.job AND p.name = b.name AND p.rank = b.least.rank
JOIN parts AS r ON r.job = b.job AND r.name = b.name
WHERE b.least.ns > b.waited_ns AND b.least.moved_ns > 0;
