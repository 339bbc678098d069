-- What the shapes of matrix products, convolutions and attention show about their speed.
--
-- `op_shapes`: rows of shared_op_shapes.
--
-- The macros return one row per shape:
--
--     shape_number
--     label   the sizes, as text for people. Matrix products with few rows have the same label if
--             they differ only in the number of rows
--     traits  list of texts: what can make kernels with these sizes slow
--     is_few  whether a matrix product has so few rows that joining calls can make it faster
--
-- In matrix products, (m, k) x (k, n) are the sizes of a single matrix of a batch. A size is off
-- its multiple if it does not fill whole vectors of 16 bytes.
--
-- reads: argument_texts, attention_operators, convolution_operators, grouped_product_operators,
--   heads_first, matrix_product_operators, type_bytes, whole_product

-- A size that is no multiple of `multiple`, as a trait; NULL for other sizes.
CREATE OR REPLACE MACRO off_multiple(name, size, multiple) AS
CASE
    WHEN size % multiple <> 0 THEN format('{} = {} is no multiple of {}', name, size, multiple)
END;

CREATE OR REPLACE MACRO product_traits(op_shapes) AS TABLE
WITH
sides AS (
    SELECT
        s.shape_number,
        s.argument_dims[o.left_at] AS left_dims,
        s.argument_dims[o.right_at] AS right_dims,
        CASE WHEN o.rank_count = 3 THEN left_dims[1] ELSE 1 END AS batch,
        CASE WHEN o.rank_count IS NULL THEN whole_product(left_dims[:-2]) ELSE left_dims[-2] END
            AS m,
        CASE
            WHEN NOT o.transposed THEN right_dims[-1]
            WHEN len(right_dims) = 2 THEN right_dims[1]
            ELSE 1
        END AS n,
        left_dims[-1] AS k,
        16 // type_bytes(s.argument_types[o.left_at]) AS multiple
    FROM query_table(op_shapes) AS s
    JOIN matrix_product_operators() AS o ON o.name = s.name
)
SELECT
    shape_number,
    format(
        '{}m {}, n = {}, k = {}',
        CASE WHEN batch > 1 THEN format('{} times ', batch) ELSE '' END,
        CASE WHEN m <= 64 AND n > 64 THEN 'up to 64' ELSE format('= {}', m) END,
        n,
        k
    ) AS label,
    list_filter(
        [
            CASE
                WHEN batch > 1 AND greatest(m, n, k) <= 128
                THEN 'the matrices of the batch are small'
                WHEN m = least(m, n, k) AND m <= 64 AND n >= 8 * m AND batch > 1
                THEN 'each matrix of the batch has few rows, as with small batches per expert'
                WHEN m = least(m, n, k) AND m <= 64 AND n >= 8 * m
                THEN 'few rows meet a large matrix, as with few tokens or small batches per expert'
                WHEN least(m, n, k) <= 64 AND greatest(m, n, k) >= 16 * least(m, n, k)
                THEN format(
                    'it is tall and skinny ({} = {})',
                    CASE least(m, n, k) WHEN n THEN 'n' WHEN k THEN 'k' ELSE 'm' END,
                    least(m, n, k)
                )
            END,
            off_multiple('n', n, multiple),
            off_multiple('k', k, multiple)
        ],
        lambda trait: trait IS NOT NULL
    ) AS traits,
    m <= 64 AND m = least(m, n, k) AND n >= 8 * m AS is_few
FROM sides;

CREATE OR REPLACE MACRO grouped_traits(op_shapes) AS TABLE
SELECT
    s.shape_number,
    format(
        '{} rows for {} experts, n = {}, k = {}',
        s.argument_dims[1][1],
        s.argument_dims[2][1],
        s.argument_dims[2][3],
        s.argument_dims[2][2]
    ) AS label,
    CASE
        WHEN s.argument_dims[1][1] <= 64 * s.argument_dims[2][1]
        THEN ['there are few rows per expert']
        ELSE []
    END AS traits,
    false AS is_few
FROM query_table(op_shapes) AS s
JOIN grouped_product_operators() AS o ON o.name = s.name;

CREATE OR REPLACE MACRO convolution_traits(op_shapes) AS TABLE
WITH
arguments AS (
    SELECT
        s.shape_number,
        s.argument_dims[o.input_at] AS input_sizes,
        s.argument_dims[o.weight_at] AS weight_sizes,
        argument_texts(s.concrete_inputs) AS texts,
        TRY_CAST(texts[o.groups_at] AS BIGINT) AS group_count,
        list_max(TRY_CAST(texts[o.dilation_at] AS BIGINT[])) AS dilation,
        16 // type_bytes(s.argument_types[o.input_at]) AS multiple
    FROM query_table(op_shapes) AS s
    JOIN convolution_operators() AS o ON o.name = s.name
)
SELECT
    shape_number,
    format(
        'input {}, weight {}',
        array_to_string(input_sizes, 'x'),
        array_to_string(weight_sizes, 'x')
    ) AS label,
    list_filter(
        [
            CASE
                WHEN group_count > 1 AND group_count = input_sizes[2]
                THEN 'it is depthwise'
                WHEN group_count > 1
                THEN format('it has {} groups', group_count)
            END,
            CASE WHEN dilation > 1 THEN format('it is dilated ({})', dilation) END,
            CASE
                WHEN group_count = 1
                THEN off_multiple('the number of input channels', input_sizes[2], multiple)
            END
        ],
        lambda trait: trait IS NOT NULL
    ) AS traits,
    false AS is_few
FROM arguments;

CREATE OR REPLACE MACRO attention_traits(op_shapes) AS TABLE
WITH
arguments AS (
    SELECT
        s.shape_number,
        s.argument_dims[o.query_at] AS query_dims,
        s.argument_dims[o.query_at + 1] AS key_dims,
        o.layout = 'blhd' AND len(query_dims) = 4 AS is_lengths_first,
        CASE WHEN is_lengths_first THEN heads_first(query_dims) ELSE query_dims END AS q,
        CASE WHEN is_lengths_first THEN heads_first(key_dims) ELSE key_dims END AS k,
        16 // type_bytes(s.argument_types[o.query_at]) AS multiple
    FROM query_table(op_shapes) AS s
    JOIN attention_operators() AS o ON o.name = s.name
    WHERE len(query_dims) = 4
)
SELECT
    shape_number,
    format('{} x {} heads of size {}, {} queries, {} keys', q[1], q[2], q[4], q[3], k[3]) AS label,
    list_filter(
        [
            CASE
                WHEN least(q[3], k[3]) <= 128
                THEN format('the sequences are short ({} queries, {} keys)', q[3], k[3])
            END,
            CASE
                WHEN q[4] > 128 OR q[4] < 32 OR q[4] % multiple <> 0
                THEN format('the head size is {}', q[4])
            END
        ],
        lambda trait: trait IS NOT NULL
    ) AS traits,
    false AS is_few
FROM arguments;

-- The rows of all these macros.
CREATE OR REPLACE MACRO shape_traits(op_shapes) AS TABLE
FROM product_traits(op_shapes)
UNION ALL
FROM grouped_traits(op_shapes)
UNION ALL
FROM convolution_traits(op_shapes)
UNION ALL
FROM attention_traits(op_shapes);
