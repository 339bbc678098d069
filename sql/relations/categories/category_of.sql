-- Macros that return the category of a kernel or operator, from names.
--
-- A macro compares a name with some hundred rules. So call it for distinct names.
--
-- reads: category_rules

-- A name as the patterns of category_rules expect it.
--
-- The `gemm` in the name of the library fbgemm is removed from names and patterns, since few of its
-- kernels are matrix products.
CREATE OR REPLACE MACRO text_for_rules(name_of_it) AS
'^' || replace(lower(name_of_it), 'fbgemm', 'fb') || '$';

-- The first rule that matches the name of a kernel or of an operator: its position and category.
-- NULL: no rule matches. `applies`: kernel or operator.
--
-- Pass columns with the name of their table: DuckDB takes a bare `category` or `example` for a
-- column of category_rules.
CREATE OR REPLACE MACRO rule_of_name(name_of_it, applies) AS (
    SELECT min({'position': r.position, 'category': r.category})
    FROM category_rules AS r
    WHERE r.applies_to = applies
      AND contains(text_for_rules(name_of_it), r.pattern)
);

-- The category of an activity of this kind, from the category that the first rule gives (NULL: no
-- rule matches).
--
-- Communication and memory are categories of their own, whatever the names say, so that categories
-- and kinds agree.
CREATE OR REPLACE MACRO category_of_kind(activity_kind, by_rules) AS
CASE
    WHEN activity_kind IN ('communication', 'memory') THEN activity_kind
    ELSE coalesce(by_rules, 'other')
END;

-- The same, from rule_of_name of its kernel and of its operator.
CREATE OR REPLACE MACRO category_of_rules(activity_kind, kernel_rule, operator_rule) AS
category_of_kind(activity_kind, least(kernel_rule, operator_rule).category);

-- The category of an operator, from its name alone.
CREATE OR REPLACE MACRO category_of_operator(operator_name) AS
coalesce(rule_of_name(operator_name, 'operator').category, 'other');

-- The category of a kernel, from its name alone.
CREATE OR REPLACE MACRO category_of_kernel(kernel) AS
coalesce(rule_of_name(kernel, 'kernel').category, 'other');
