-- A short name for a kernel: `void at::native::f<int>(float*)` becomes `at::native::f`.
--
-- A kernel whose name encodes what it does gets words, such as `Tensile gemm bf16 128x64x32 nn`
-- (kernel_words). A mangled name is demangled.
--
-- Template arguments and parameter lists can be nested, so a single pattern cannot match them. The
-- macro runs 24 rounds. Each round removes the innermost lists. If lists are nested more than 24
-- levels deep, the outer levels remain.
--
-- reads: demangled_name, kernel_words

-- The name without its innermost template arguments and parameter lists: one round.
CREATE OR REPLACE MACRO without_innermost(name) AS
regexp_replace(name, '<[^<>()]*>|\([^<>()]*\)', '', 'g');

-- The name after all 24 rounds. list_reduce runs the rounds, since nested macro calls would keep
-- the text of every round in memory.
CREATE OR REPLACE MACRO without_templates_and_parameters(name) AS
list_reduce(
    list_transform(range(24), lambda round: ''),
    lambda shorter, round: without_innermost(shorter),
    name
);

-- The name without brackets that enclose no template arguments or parameters:
--   * `operator()` becomes `operator{}`, since its brackets are part of the name.
--   * `->` is removed, since its `>` is not a bracket.
--   * Anonymous namespaces and `[clone ...]` are removed.
CREATE OR REPLACE MACRO without_odd_brackets(name) AS
regexp_replace(
    replace(replace(name, 'operator()', 'operator{}'), '->', ''),
    '\(anonymous namespace\)::|<unnamed>::|\s*\[clone [^\]]*\]',
    '',
    'g'
);

-- The text after the last blank, which is the name without its return type. Qualifiers after the
-- parameters, such as `const`, are removed first.
CREATE OR REPLACE MACRO last_word(name) AS
regexp_extract(regexp_replace(trim(name), '(\s+(const|volatile|&|&&))+$', ''), '(\S*)$', 1);

-- The name of a function, mangled or not, without template arguments and parameters.
CREATE OR REPLACE MACRO function_name(name) AS
CASE
    WHEN starts_with(name, '_Z') THEN demangled_name(name)
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

CREATE OR REPLACE MACRO short_name(name) AS coalesce(kernel_words(name), function_name(name));
