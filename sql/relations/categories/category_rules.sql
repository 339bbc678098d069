-- The rules that give kernels and operators a category. The first that matches decides.
--
--     position    order of the rules
--     applies_to  operator: the name of the operator that launched the kernel
--                 kernel: the kernel's own name
--     pattern     text that the name contains, in lower case. `^` in front stands for the start of
--                 the name, and `$` at the end for its end.
--     category    such as gemm; docs/categories.md lists them
--     example     a name that matches; of a long name, a part. NULL for a user's rules
--
-- The order, in thousands:
--
--     1  the user's rules
--     2  operators that do one thing. `aten::convolution` transposes, multiplies and adds, all of
--        which is a convolution.
--     3  names of kernels that say what they do
--     4  names of kernels in general
--     5  operators that do several things. Of vllm::moe_forward, a kernel that quantizes matches a
--        rule of kernels. What matches none is part of the mixture of experts.
--
-- Patterns are plain text, since DuckDB compiles a regular expression of a table once per row.
--
-- reads: composite_category_rules, general_category_rules, kernel_category_rules,
--   operator_category_rules, user_category_rules
CREATE OR REPLACE VIEW category_rules AS
SELECT
    1000 + row_number() OVER () AS position,
    applies_to,
    replace(lower(pattern), 'fbgemm', 'fb') AS pattern,
    category,
    NULL::VARCHAR AS example
FROM user_category_rules
UNION ALL
SELECT 2000 + place, 'operator', rule[2], rule[1], rule[3]
FROM operator_category_rules
UNION ALL
SELECT 3000 + place, 'kernel', rule[2], rule[1], rule[3]
FROM kernel_category_rules
UNION ALL
SELECT 4000 + place, 'kernel', rule[2], rule[1], rule[3]
FROM general_category_rules
UNION ALL
SELECT 5000 + place, 'operator', rule[2], rule[1], rule[3]
FROM composite_category_rules;
