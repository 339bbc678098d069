-- The kernel category that takes most of the GPU time of each thing, such as an operator.
--
--     times  owner (the thing), kind and kernel_name of its GPU activities, operator_name (the
--            innermost operator around their launch; NULL: none) and time_ns (the sum of their
--            durations). An owner may have several rows with the same names.
--
-- Returns owner and category. If categories have the same time, the first by name is returned.
--
-- reads: categories_by_rules, category_of_kind
CREATE OR REPLACE MACRO main_categories(times) AS TABLE
WITH
timed AS MATERIALIZED (
    FROM query_table(times)
),
by_category AS (
    SELECT
        t.owner,
        category_of_kind(t.kind, r.category) AS category,
        sum(t.time_ns) AS time_ns
    FROM timed AS t
    LEFT JOIN categories_by_rules(timed) AS r
        ON r.kernel_name IS NOT DISTINCT FROM t.kernel_name
        AND r.operator_name IS NOT DISTINCT FROM t.operator_name
    GROUP BY ALL
)
SELECT b.owner, min({'order': -b.time_ns, 'category': b.category}).category AS category
FROM by_category AS b
GROUP BY b.owner;
