-- The GPU activities of some jobs, ranks and steps, with the category of each.
--
-- Returns the columns of gpu_activities, and
--
--     operator_name    innermost operator around the launch; NULL: none
--     kernel_category  as in category_of_rules
--
-- `jobs`, `ranks` and `steps`: as in activities_of.
--
-- The rules are compared with distinct names, so each table is read twice: for its names, and for
-- its rows, which DuckDB then need not hold in memory.
--
-- reads: activities_of, category_of_rules, operator_names_of, rule_of_name
CREATE OR REPLACE MACRO categorised_activities_of(jobs, ranks, steps) AS TABLE
WITH
kernels AS (
    SELECT k.name, rule_of_name(k.name, 'kernel') AS kernel_rule
    FROM (SELECT DISTINCT a.name FROM activities_of(jobs, ranks, steps) AS a) AS k
),
operators AS (
    SELECT o.operator_name, rule_of_name(o.operator_name, 'operator') AS operator_rule
    FROM (SELECT DISTINCT operator_name FROM operator_names_of(jobs, ranks)) AS o
),
launching AS (
    SELECT n.job, n.rank, n.op_id, n.operator_name, o.operator_rule
    FROM operator_names_of(jobs, ranks) AS n
    LEFT JOIN operators AS o ON o.operator_name = n.operator_name
)
SELECT
    a.*,
    l.operator_name,
    category_of_rules(a.kind, k.kernel_rule, l.operator_rule) AS kernel_category
FROM activities_of(jobs, ranks, steps) AS a
LEFT JOIN kernels AS k ON k.name = a.name
LEFT JOIN launching AS l ON l.job = a.job AND l.rank = a.rank AND l.op_id = a.op_id;
