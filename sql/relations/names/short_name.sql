-- A kernel's name for people: `void at::native::f<int>(float*)` is `at::native::f`.
--
-- Templates and parameter lists nest, which one pattern cannot express; each round removes the
-- innermost ones. Names deeper than 24 levels keep what is left.

CREATE OR REPLACE MACRO without_innermost(name) AS
regexp_replace(name, '<[^<>()]*>|\([^<>()]*\)', '', 'g');

-- A reduction, since calls within calls would keep the text of every round.
CREATE OR REPLACE MACRO without_templates_and_parameters(name) AS
list_reduce(
    list_transform(range(24), lambda round: ''),
    lambda shorter, round: without_innermost(shorter),
    name
);

-- The call operator is a name, an arrow no bracket; an anonymous namespace says nothing.
CREATE OR REPLACE MACRO without_odd_brackets(name) AS
regexp_replace(
    replace(replace(name, 'operator()', 'operator{}'), '->', ''),
    '\(anonymous namespace\)::|<unnamed>::|\s*\[clone [^\]]*\]',
    '',
    'g'
);

-- What follows the last space, so without the return type; `const` behind the parameters first.
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
