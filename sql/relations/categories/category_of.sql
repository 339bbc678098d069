-- Macros that return the category of a kernel or operator, from names.
--
-- A macro compares a name with some hundred rules. So call it for distinct names.
--
-- reads: category_rules

-- The first rule that matches the name of a kernel or of an operator: its position and category.
-- NULL: no rule matches. `applies`: kernel or operator.
--
-- The `gemm` in the name of the library fbgemm is removed from names and patterns, since few of its
-- kernels are matrix products. Pass columns with the name of their table: DuckDB takes a bare
-- `category` or `example` for a column of category_rules.
CREATE OR REPLACE MACRO rule_of_name(name_of_it, applies) AS (
    SELECT min({'position': r.position, 'category': r.category})
    FROM category_rules AS r
    WHERE r.applies_to = applies
      AND contains('^' || replace(lower(name_of_it), 'fbgemm', 'fb') || '$', r.pattern)
);

-- The category of an activity of this kind, from rule_of_name of its kernel and of its operator.
--
-- Communication and memory are categories of their own, whatever the names say, so that categories
-- and kinds agree.
CREATE OR REPLACE MACRO category_of_rules(activity_kind, kernel_rule, operator_rule) AS
CASE
    WHEN activity_kind IN ('communication', 'memory') THEN activity_kind
    ELSE coalesce(least(kernel_rule, operator_rule).category, 'other')
END;

-- The category of an operator, from its name alone.
CREATE OR REPLACE MACRO category_of_operator(operator_name) AS
coalesce(rule_of_name(operator_name, 'operator').category, 'other');

-- The category of a kernel, from its name alone.
CREATE OR REPLACE MACRO category_of_kernel(kernel) AS
coalesce(rule_of_name(kernel, 'kernel').category, 'other');
