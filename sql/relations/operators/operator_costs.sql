-- The cost of an operator call: floating-point operations and bytes, from its shapes.
--
-- The formulas are in the files of the families, such as matrix_products.sql. For each shape, a
-- formula gives two lists: numbers whose product is the number of operations (the
-- factors), and the tensors that the call reads and writes. operator_costs multiplies the factors
-- and adds up the bytes of the tensors.

-- Whether a text has a whole number of 13 digits or more. No tensor is that large.
CREATE OR REPLACE MACRO has_absurd_number(text) AS
regexp_matches(text, '(^|[^.0-9])[0-9]{13}|[eE]\+?1[2-8]');

-- The sizes of each argument, from the JSON of `Input Dims`. NULL if an argument is a list of
-- tensors, or if a size cannot be. The cast would round a fraction, so a text with a fraction gives
-- NULL.
CREATE OR REPLACE MACRO argument_sizes(text) AS
CASE
    WHEN NOT contains(text, '.') AND NOT has_absurd_number(text)
    THEN TRY_CAST(text AS BIGINT[][])
END;

-- The text of each argument, from the JSON of `Input type` or `Concrete Inputs`. NULL for an
-- argument with a number that cannot be.
CREATE OR REPLACE MACRO argument_texts(text) AS
CASE
    WHEN has_absurd_number(text)
    THEN list_transform(
        TRY_CAST(text AS VARCHAR[]),
        lambda argument: CASE WHEN NOT has_absurd_number(argument) THEN argument END
    )
    ELSE TRY_CAST(text AS VARCHAR[])
END;

-- Bytes per element, by the C++ names of types in `Input type`. NULL for other names. Types that
-- end in _x2 hold two numbers per element.
CREATE OR REPLACE MACRO type_bytes(type) AS
CASE
    WHEN type IN (
        'bool', 'signed char', 'unsigned char', 'char', 'c10::qint8', 'c10::quint8',
        'c10::Float8_e4m3fn', 'c10::Float8_e4m3fnuz', 'c10::Float8_e5m2', 'c10::Float8_e5m2fnuz',
        'c10::Float8_e8m0fnu', 'c10::Float4_e2m1fn_x2'
    )
    THEN 1
    WHEN type IN (
        'c10::Half', 'c10::BFloat16', 'short', 'short int', 'unsigned short', 'short unsigned int'
    )
    THEN 2
    WHEN type IN ('float', 'int', 'unsigned int', 'c10::qint32', 'c10::complex<c10::Half>')
    THEN 4
    WHEN type IN (
        'double', 'long', 'long int', 'long long', 'long long int', '__int64', 'unsigned long',
        'long unsigned int', 'unsigned long long', 'c10::complex<float>'
    )
    THEN 8
    WHEN type = 'c10::complex<double>'
    THEN 16
END::BIGINT;

-- The number format of a type, in the names of device_peaks. NULL for other types.
CREATE OR REPLACE MACRO number_format(type) AS
CASE
    WHEN type = 'double' THEN 'float64'
    WHEN type = 'float' THEN 'float32'
    WHEN type = 'c10::Half' THEN 'float16'
    WHEN type = 'c10::BFloat16' THEN 'bfloat16'
    WHEN prefix(type, 'c10::Float8_e4m3') OR prefix(type, 'c10::Float8_e5m2') THEN 'float8'
    WHEN type = 'c10::Float4_e2m1fn_x2' THEN 'float4'
    WHEN type IN ('signed char', 'unsigned char', 'char', 'c10::qint8', 'c10::quint8') THEN 'int8'
END;

-- The exact product of whole numbers. The product of an empty list is 1. NULL if a number is NULL
-- or negative, or if the product does not fit into BIGINT.
CREATE OR REPLACE MACRO whole_product(numbers) AS
CASE
    WHEN len(numbers) = 0
    THEN 1
    WHEN list_bool_and(list_transform(numbers, lambda n: coalesce(n >= 0, false)))
        AND list_contains(numbers, 0)
    THEN 0
    WHEN list_bool_and(list_transform(numbers, lambda n: coalesce(n >= 0, false)))
        AND list_product(numbers) < 9.2e18
    THEN list_reduce(numbers::HUGEINT[], lambda a, b: a * b)
END::BIGINT;

-- One row per shape whose cost is known: its operations (flops), bytes and number format (dtype).
--
-- `formulas`: shape_number, family, is_estimated, factors, formats and tensors of each shape.
--
--     factors  BIGINT[]   their product is the number of operations
--     formats  VARCHAR[]  types of the numbers that are multiplied
--     tensors  list of {dims, type}: tensors that are read or written. An entry counts 0 bytes if
--              its type is '', Scalar, ScalarList or None.
--
-- The cost of a shape is known if its operations are known. If factors is NULL, operations are not
-- counted, and the cost is known if the bytes are known.
CREATE OR REPLACE MACRO operator_costs(formulas) AS TABLE
WITH
costs AS (
    SELECT
        shape_number,
        family,
        is_estimated,
        factors IS NOT NULL AS counts_flops,
        whole_product(factors) AS flops,
        list_transform(
            tensors,
            lambda t: CASE
                WHEN t.type IN ('', 'Scalar', 'ScalarList', 'None') THEN 0
                WHEN t.dims IS NULL THEN NULL
                ELSE whole_product(list_append(t.dims, type_bytes(t.type)))
            END
        ) AS bytes_of_each,
        list_distinct(list_transform(
            formats, lambda type: coalesce(number_format(type), 'none')
        )) AS formats
    FROM query_table(formulas)
),
summed AS (
    SELECT
        shape_number,
        family,
        is_estimated,
        counts_flops,
        flops,
        CASE
            WHEN len(formats) = 1 AND formats[1] <> 'none' AND flops IS NOT NULL
            THEN formats[1]
        END AS dtype,
        CASE
            WHEN list_bool_and(list_transform(bytes_of_each, lambda b: b IS NOT NULL))
            THEN TRY_CAST(
                list_reduce(list_prepend(0, bytes_of_each)::HUGEINT[], lambda a, b: a + b)
                AS BIGINT
            )
        END AS bytes
    FROM costs
)
SELECT shape_number, family, coalesce(is_estimated, false) AS is_estimated, flops, bytes, dtype
FROM summed
WHERE flops IS NOT NULL OR (bytes IS NOT NULL AND NOT counts_flops);
