-- One row per operator name and cause, for the causes named `calls` and `shapes`.
--
--     changed         cause, context and added_calls of the changed contexts
--     contexts        rows of named_contexts
--     totals          rows of context_totals
--     changed_shapes  context, input_dims and is_of_test of the changed shapes
--
-- A context is an operator with its caller and its caller's caller, see ops_in_contexts. For
-- `calls`, a context is changed if the number of its calls per call of the caller differs between
-- base and test. For `shapes`, a context is changed if the share of its calls on some shape
-- differs. This shape is a changed shape.
--
-- added_calls is the number of calls per step and rank that the changed rate adds in the test. The
-- rate is the number of calls per call of the caller. added_calls is NULL for `shapes`. is_of_test
-- is true if the shape is more frequent in the test.
--
-- base_ns, test_ns and diff_ns are GPU time. If the operators have no GPU time on either side,
-- base_ns, test_ns and diff_ns are host time. diff_ns depends on the cause:
--   * calls: added_calls * mean time per call over both sides
--   * shapes: test_ns - base_ns
--
-- A sum of floating-point numbers depends on the order of its rows. The sums therefore have an
-- ORDER BY.
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
