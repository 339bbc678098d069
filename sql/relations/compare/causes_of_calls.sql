-- Causes calls and shapes: the effect of operators whose calls or shapes changed, one row per name.
--
-- `changed` has cause, context and added_calls, the calls that a changed rate adds to a step of the
-- test. `contexts` are rows of named_contexts, `totals` of context_totals. `changed_shapes` has the
-- context, input_dims and is_of_test of shapes that became more frequent on one side.
--
-- The time is the GPU time of the operators. If they have none, it is their host time. Sums of
-- fractions depend on the order of rows, so the order is fixed.
CREATE OR REPLACE MACRO causes_of_calls(changed, contexts, totals, changed_shapes) AS TABLE
WITH
details AS (
    SELECT
        'shapes' AS cause,
        c.name,
        string_agg(DISTINCT f.input_dims, ' ' ORDER BY f.input_dims) FILTER (NOT f.is_of_test)
            AS base_detail,
        string_agg(DISTINCT f.input_dims, ' ' ORDER BY f.input_dims) FILTER (f.is_of_test)
            AS test_detail
    FROM query_table(changed) AS d
    JOIN query_table(changed_shapes) AS f ON f.context = d.context
    JOIN query_table(contexts) AS c ON c.context = d.context
    WHERE d.cause = 'shapes'
    GROUP BY c.name
),
summed AS (
    SELECT
        d.cause,
        c.name,
        string_agg(DISTINCT c.in_name, ', ' ORDER BY c.in_name) AS inside,
        sum(o.base_calls ORDER BY d.context) AS base_calls,
        sum(o.test_calls ORDER BY d.context) AS test_calls,
        sum(o.base_gpu_ns ORDER BY d.context) AS base_gpu_ns,
        sum(o.test_gpu_ns ORDER BY d.context) AS test_gpu_ns,
        sum(o.base_host_ns ORDER BY d.context) AS base_host_ns,
        sum(o.test_host_ns ORDER BY d.context) AS test_host_ns,
        sum(
            d.added_calls * (o.base_gpu_ns + o.test_gpu_ns) / (o.base_calls + o.test_calls)
            ORDER BY d.context
        ) AS added_gpu_ns,
        sum(
            d.added_calls * (o.base_host_ns + o.test_host_ns) / (o.base_calls + o.test_calls)
            ORDER BY d.context
        ) AS added_host_ns
    FROM query_table(changed) AS d
    JOIN query_table(contexts) AS c ON c.context = d.context
    JOIN query_table(totals) AS o ON o.context = d.context
    GROUP BY d.cause, c.name
)
SELECT
    s.cause,
    s.name,
    s.inside,
    details.base_detail,
    details.test_detail,
    s.base_calls,
    s.test_calls,
    CASE WHEN s.base_gpu_ns + s.test_gpu_ns > 0 THEN 'gpu' ELSE 'host' END AS time_of,
    CASE WHEN time_of = 'gpu' THEN s.base_gpu_ns ELSE s.base_host_ns END AS base_ns,
    CASE WHEN time_of = 'gpu' THEN s.test_gpu_ns ELSE s.test_host_ns END AS test_ns,
    coalesce(
        CASE WHEN time_of = 'gpu' THEN s.added_gpu_ns ELSE s.added_host_ns END,
        test_ns - base_ns
    ) AS diff_ns
FROM summed AS s
LEFT JOIN details ON details.cause = s.cause AND details.name = s.name;
