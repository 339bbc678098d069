-- A short name for a kernel: `void at::native::f<int>(float*)` becomes `at::native::f`.
--
-- Templates and parameter lists are nested, so a single pattern cannot match them. Each round
-- removes the innermost ones. Names with more than 24 levels keep the rest.

CREATE OR REPLACE MACRO without_innermost(name) AS
regexp_replace(name, '<[^<>()]*>|\([^<>()]*\)', '', 'g');

-- A reduction, since nested calls would keep the text of every round.
CREATE OR REPLACE MACRO without_templates_and_parameters(name) AS
list_reduce(
    list_transform(range(24), lambda round: ''),
    lambda shorter, round: without_innermost(shorter),
    name
);

-- The call operator is a name, and an arrow is not a bracket. An anonymous namespace is removed.
CREATE OR REPLACE MACRO without_odd_brackets(name) AS
regexp_replace(
    replace(replace(name, 'operator()', 'operator{}'), '->', ''),
    '\(anonymous namespace\)::|<unnamed>::|\s*\[clone [^\]]*\]',
    '',
    'g'
);

-- The text after the last space, so that the return type is removed. A `const` after the parameters
-- is removed first.
CREATE OR REPLACE MACRO last_word(name) AS
regexp_extract(regexp_replace(trim(name), '(\s+(const|volatile|&|&&))+$', ''), '(\S*)$', 1);

CREATE OR REPLACE MACRO short_name(name) AS
CASE
    WHEN contains(name, '(') OR contains(name, '<')
    THEN coalesce(
        nullif(
            replace(
                last_word(without_templates_and_parameters(without_odd_brackets(name))),
                'operator{}',
                'operator()'
            ),
            ''
        ),
        name
    )
    ELSE name
END;
