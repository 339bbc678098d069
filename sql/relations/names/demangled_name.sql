-- The name of a mangled C++ function, without template arguments and parameters:
-- `_ZN2ns1fIfEEvPT_` becomes `ns::f`.
--
-- The Itanium ABI writes each identifier behind its length: `2ns1f` is ns and f. The names end
-- before template arguments (I), the end of a nested name (E) or parameters. `_GLOBAL__N_1` is an
-- anonymous namespace, which is dropped.
--
-- Some libraries launch all their kernels through one function, of which the kernel is the first
-- template argument that is a type: `ck_tile::kentry<1, ck_tile::Rmsnorm2dFwd<...>>`,
-- `cutlass::Kernel<...>`. The macro returns this type: `ck_tile::Rmsnorm2dFwd`. In the argument,
-- `S_` stands for the namespace of the function.

-- One round: moves the first identifier from the mangled text behind `|` to the names before `|`.
--
--     |2ns1fIfE   ::ns|1fIfE   ::ns::f|IfE
--
-- At such a function, the round continues in its argument: `::ck_tile::kentry|ILi1ENS_12Rms...`
-- becomes `::ck_tile|12Rms...`.
CREATE OR REPLACE MACRO without_first_identifier(so_far) AS
CASE
    WHEN length(regexp_extract(so_far, '\|\d+(.*)', 1))
        >= TRY_CAST(regexp_extract(so_far, '\|([1-9]\d{0,3})', 1) AS INTEGER)
    THEN concat(
        regexp_extract(so_far, '^[^|]*'),
        '::',
        left(
            regexp_extract(so_far, '\|\d+(.*)', 1),
            regexp_extract(so_far, '\|(\d+)', 1)::INTEGER
        ),
        '|',
        substr(
            regexp_extract(so_far, '\|\d+(.*)', 1),
            regexp_extract(so_far, '\|(\d+)', 1)::INTEGER + 1
        )
    )
    ELSE regexp_replace(
        so_far,
        '^(::\w+)::.*\b(?:kentry|Kernel2?|device_kernel)\|I(?:L[a-z]n?\d+E)*N?K?(?:S[0-9A-Z]*_)?',
        '\1|'
    )
END;

-- The name after 20 rounds, as in without_templates_and_parameters.
CREATE OR REPLACE MACRO demangled_name(name) AS
coalesce(
    nullif(
        ltrim(
            regexp_replace(
                list_reduce(
                    list_transform(range(20), lambda round: ''),
                    lambda so_far, round: without_first_identifier(so_far),
                    '|' || regexp_replace(name, '^_ZL?N?[KVr]*L?', '')
                ),
                '::_GLOBAL__N_\d+|\|.*$',
                '',
                'g'
            ),
            ':'
        ),
        ''
    ),
    name
);
