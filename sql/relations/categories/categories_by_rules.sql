-- The category that the rules give each kernel and the operator that launched it.
--
--     named  kernel_name and operator_name (NULL: none) of GPU activities; a pair can occur in
--            several rows
--
-- Returns one row per pair of names that a rule matches, with its category. To join it, compare
-- names with IS NOT DISTINCT FROM, and pass the category to category_of_kind.
--
-- reads: category_rules, text_for_rules
CREATE OR REPLACE MACRO categories_by_rules(named) AS TABLE
WITH
pairs AS (
    SELECT
        kernel_name,
        operator_name,
        text_for_rules(kernel_name) AS kernel_text,
        text_for_rules(operator_name) AS operator_text
    FROM query_table(named)
    GROUP BY ALL
)
-- The first rule that matches one of the two names decides.
SELECT p.kernel_name, p.operator_name, arg_min(r.category, r.position) AS category
FROM pairs AS p
JOIN category_rules AS r
    ON contains(
        CASE WHEN r.applies_to = 'kernel' THEN p.kernel_text ELSE p.operator_text END,
        r.pattern
    )
GROUP BY p.kernel_name, p.operator_name;
