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
-- Patterns are plain text, since DuckDB compiles a regular expression of a table once per row. The
-- rules are lines of texts, since DuckDB binds a text ten times faster than hundreds of rows of
-- constants, and each query that reads the rules binds them.
--
-- shared: session
--
-- reads: composite_category_rules, general_category_rules, kernel_category_rules,
--   operator_category_rules, user_category_rules
CREATE OR REPLACE VIEW category_rules AS
WITH
texts (thousands, applies_to, lines) AS (
    VALUES
        (2000, 'operator', string_split(operator_category_rules(), chr(10))),
        (3000, 'kernel', string_split(kernel_category_rules(), chr(10))),
        (4000, 'kernel', string_split(general_category_rules(), chr(10))),
        (5000, 'operator', string_split(composite_category_rules(), chr(10)))
),
numbered AS (
    SELECT
        thousands + generate_subscripts(lines, 1) AS position,
        applies_to,
        unnest(lines) AS line
    FROM texts
),
-- Two blanks or more stand between the words of a line.
split AS (
    SELECT position, applies_to, string_split_regex(line, '  +') AS words
    FROM numbered
    WHERE line <> '' AND NOT starts_with(line, '--')
)
SELECT
    1000 + row_number() OVER () AS position,
    applies_to,
    replace(lower(pattern), 'fbgemm', 'fb') AS pattern,
    category,
    NULL::VARCHAR AS example
FROM user_category_rules
UNION ALL
SELECT position, applies_to, words[2] AS pattern, words[1] AS category, words[3] AS example
FROM split;
