-- One row per operator name, for the cause named `kernels`: the operator launches other kernels in
-- the test than in the base on the same shapes, or the same kernels more or less often.
--
-- A kernel that no operator launches has a row under its own name. A row has the number and the GPU
-- time of the changed kernels only, per step and rank.
--
--     kernels   rows of kernels_in_contexts
--     changed   rows of changed_rates with the cause `kernels`
--     contexts  rows of named_contexts
--     samples   sample and side: a sample is one step on one side (base or test), with all ranks
--     counted   the row of counted_steps
CREATE OR REPLACE MACRO causes_of_kernels(kernels, changed, contexts, samples, counted) AS TABLE
WITH
-- One row per name, stratum and changed kernel. The name is the operator's name, or the kernel's
-- own name outside operators. A stratum is a context and a shape, see kernels_in_contexts.
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
    -- If the short names are equal on both sides, the columns show the full names.
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
