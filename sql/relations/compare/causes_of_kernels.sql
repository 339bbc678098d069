-- Cause kernels: operators that launch different kernels on the same shapes, one row per name.
--
-- The time is GPU time. Kernels that no operator launches have a row under their own name.
-- `kernels` are rows of kernels_in_contexts, `changed` of changed_rates, `contexts` of
-- named_contexts. `samples` have sample and side. `counted` is the row of counted_steps.
CREATE OR REPLACE MACRO causes_of_kernels(kernels, changed, contexts, samples, counted) AS TABLE
WITH
-- All operators of the name whose kernels changed, on the shapes on which they changed.
kernels_of AS (
    SELECT
        coalesce(c.name, k.name) AS name,
        k.stratum,
        k.kernel_hash,
        any_value(k.name) AS kernel,
        any_value(k.short_name) AS short_name,
        any_value(d.test_rate > d.base_rate) AS is_of_test,
        any_value(c.in_name) AS in_name,
        sum(k.times) FILTER (s.side = 'base') AS base_times,
        sum(k.times) FILTER (s.side = 'test') AS test_times,
        sum(k.total_ns) FILTER (s.side = 'base') AS base_ns,
        sum(k.total_ns) FILTER (s.side = 'test') AS test_ns
    FROM query_table(kernels) AS k
    JOIN query_table(changed) AS d ON d.whole = k.stratum AND d.part = k.kernel_hash
    JOIN query_table(samples) AS s ON s.sample = k.sample
    LEFT JOIN query_table(contexts) AS c ON c.context = k.context
    GROUP BY coalesce(c.name, k.name), k.stratum, k.kernel_hash
),
summed AS (
    SELECT
        name,
        string_agg(DISTINCT in_name, ', ' ORDER BY in_name) AS inside,
        string_agg(DISTINCT short_name, ', ' ORDER BY short_name) FILTER (NOT is_of_test)
            AS base_short,
        string_agg(DISTINCT short_name, ', ' ORDER BY short_name) FILTER (is_of_test)
            AS test_short,
        string_agg(DISTINCT kernel, ', ' ORDER BY kernel) FILTER (NOT is_of_test) AS base_full,
        string_agg(DISTINCT kernel, ', ' ORDER BY kernel) FILTER (is_of_test) AS test_full,
        coalesce(sum(base_times), 0) AS base_times,
        coalesce(sum(test_times), 0) AS test_times,
        coalesce(sum(base_ns), 0) AS base_ns,
        coalesce(sum(test_ns), 0) AS test_ns
    FROM kernels_of
    GROUP BY name
)
SELECT
    'kernels' AS cause,
    s.name,
    s.inside,
    -- If the short names are equal on both sides, the full names are given.
    CASE WHEN base_short = test_short THEN base_full ELSE base_short END AS base_detail,
    CASE WHEN base_short = test_short THEN test_full ELSE test_short END AS test_detail,
    s.base_times / n.base_steps_count AS base_calls,
    s.test_times / n.test_steps_count AS test_calls,
    'gpu' AS time_of,
    s.base_ns / n.base_steps_count AS base_ns,
    s.test_ns / n.test_steps_count AS test_ns,
    s.test_ns / n.test_steps_count - s.base_ns / n.base_steps_count AS diff_ns
FROM summed AS s
CROSS JOIN query_table(counted) AS n;
