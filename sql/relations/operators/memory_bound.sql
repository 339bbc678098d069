-- Operators that mostly move memory: elementwise operators, copies, softmax and reductions.

-- One row per operator and number of arguments.
--
--     argument_count  number of arguments
--     reads           arguments that the operator reads, counted from 1
--     result          promoted: has the joint size and the joint type of the read arguments
--                     bool: has the joint size of the read arguments and the type bool
--                     first: is the first argument itself
--                     reduced: lacks the dimensions that the second argument names; lacks all
--                     dimensions if the second argument is missing or empty
--
-- Each operator in `elementwise` also has an in-place form. The in-place form has an _ after its
-- name and the result `first`.
CREATE OR REPLACE MACRO memory_bound_operators() AS TABLE
WITH
elementwise (names, argument_count, reads, result) AS (
    VALUES
        (
            ['abs', 'neg', 'exp', 'exp2', 'expm1', 'log', 'log2', 'log10', 'log1p', 'sqrt',
             'rsqrt', 'reciprocal', 'square', 'sin', 'cos', 'tanh', 'sigmoid', 'erf', 'floor',
             'ceil', 'round', 'trunc', 'sign', 'relu', 'silu', 'bitwise_not'],
            1, [1], 'promoted'
        ),
        (['gelu', 'leaky_relu', 'clamp_min', 'clamp_max'], 2, [1], 'promoted'),
        (['hardtanh', 'clamp'], 3, [1], 'promoted'),
        (['nan_to_num'], 4, [1], 'promoted'),
        (['mul', 'div', 'pow', 'bitwise_and', 'bitwise_or'], 2, [1, 2], 'promoted'),
        (['add', 'sub'], 3, [1, 2], 'promoted'),
        (['addcmul', 'addcdiv'], 4, [1, 2, 3], 'promoted'),
        (['logical_not'], 1, [1], 'bool'),
        (['eq', 'ne', 'lt', 'le', 'gt', 'ge', 'logical_and', 'logical_or'], 2, [1, 2], 'bool')
),
others (names, argument_count, reads, result) AS (
    VALUES
        (['rsub'], 3, [1, 2], 'promoted'),
        (['maximum', 'minimum', 'sigmoid_backward', 'tanh_backward', 'silu_backward'],
         2, [1, 2], 'promoted'),
        (['threshold_backward', 'gelu_backward'], 3, [1, 2], 'promoted'),
        (['isnan', 'isinf'], 1, [1], 'bool'),
        (['_softmax', '_log_softmax'], 3, [1], 'promoted'),
        (['_softmax_backward_data', '_log_softmax_backward_data'], 4, [1, 2], 'promoted'),
        (['copy_'], 3, [2], 'first'),
        (['fill_'], 2, []::INTEGER[], 'first'),
        (['zero_'], 1, []::INTEGER[], 'first'),
        -- With 2 arguments, the operator reduces all dimensions. With 4, the second argument names
        -- the dimensions.
        (['sum', 'mean', 'prod'], 2, [1], 'reduced'),
        (['sum', 'mean', 'prod'], 4, [1], 'reduced'),
        (['amax', 'amin'], 3, [1], 'reduced')
),
named AS (
    SELECT unnest(names) AS name, argument_count, reads, result FROM elementwise
    UNION ALL
    SELECT unnest(names) || '_' AS name, argument_count, reads, 'first' AS result FROM elementwise
    UNION ALL
    SELECT unnest(names) AS name, argument_count, reads, result FROM others
)
SELECT 'aten::' || name AS name, argument_count, reads, result
FROM named;

-- One row per shape of a memory-bound operator: the tensors that move. Operations are not counted.
--
-- `shapes`: rows of numbered_shapes. A shape is an operator's name with the sizes (dims), types and
--   values (texts) of its arguments.
--
-- Bytes: the arguments that the operator reads move once, and its result moves once.
--
-- Joint size: dimensions are counted from the last. Along each dimension, the joint size is the
-- longest size of the arguments.
--
-- Joint type: the type that all arguments with dimensions have. If no argument has dimensions, the
-- joint type is the type that all arguments have. If these types differ, the joint type and the
-- bytes are not known.
--
-- Types of sum, mean and prod: if a dtype is given, the type and the bytes are not known. The
-- result of integers has the type long.
--
-- A call with another number of arguments has no row. Examples are calls with `out`, and calls from
-- TorchScript: it adds the arguments of the calls around a call, so the list is not reliable.
--
-- Sources: signatures of aten/src/ATen/native/native_functions.yaml, and PyTorch's documentation of
-- broadcasting and type promotion.
CREATE OR REPLACE MACRO memory_bound(shapes) AS TABLE
WITH
arguments AS MATERIALIZED (
    SELECT
        s.shape_number,
        o.argument_count,
        o.result,
        s.dims[1] AS first_dims,
        s.types[1] AS first_type,
        s.types,
        s.texts,
        list_filter(
            list_transform(o.reads, lambda i: {'dims': s.dims[i], 'type': s.types[i]}),
            lambda a: a.type IS NULL OR a.type NOT IN ('', 'Scalar', 'None')
        ) AS inputs
    FROM query_table(shapes) AS s
    JOIN memory_bound_operators() AS o
        ON o.name = s.name
        AND o.argument_count = len(s.dims)
),
results AS (
    SELECT
        *,
        -- One list per dimension, from the last dimension to the first: the sizes of all arguments
        -- that have the dimension.
        list_transform(
            range(0, coalesce(list_max(list_transform(inputs, lambda a: len(a.dims))), 0)),
            lambda i: list_transform(
                list_filter(inputs, lambda a: len(a.dims) > i),
                lambda a: a.dims[len(a.dims) - i]
            )
        ) AS sizes_from_last,
        list_distinct(list_transform(
            list_filter(inputs, lambda a: len(a.dims) > 0), lambda a: a.type
        )) AS types_of_large,
        list_distinct(list_transform(inputs, lambda a: a.type)) AS types_of_all,
        -- The dimensions that are reduced, counted from 1. The second argument can be a list or one
        -- number. A number below zero counts from the last dimension.
        CASE
            WHEN result <> 'reduced'
            THEN NULL
            WHEN argument_count = 2 OR texts[2] IN ('', '[]')
            THEN range(1, len(first_dims) + 1)
            ELSE list_transform(
                coalesce(TRY_CAST(texts[2] AS BIGINT[]), [TRY_CAST(texts[2] AS BIGINT)]),
                lambda d: CASE WHEN d < 0 THEN d + len(first_dims) + 1 ELSE d + 1 END
            )
        END AS reduced,
        -- Whether a dtype is given for sum, mean or prod. The argument's type is empty if not.
        result = 'reduced' AND argument_count <> 3 AND types[argument_count] <> '' AS has_dtype
    FROM arguments
),
written AS (
    SELECT
        *,
        CASE
            WHEN result = 'first'
            THEN first_dims
            WHEN result <> 'reduced'
            THEN list_transform(
                sizes_from_last,
                lambda sizes: CASE WHEN list_contains(sizes, 0) THEN 0 ELSE list_max(sizes) END
            )
            WHEN list_bool_and(list_transform(
                reduced, lambda d: coalesce(d BETWEEN 1 AND greatest(1, len(first_dims)), false)
            )) IS DISTINCT FROM false
            THEN list_transform(
                list_filter(range(1, len(first_dims) + 1), lambda d: NOT list_contains(reduced, d)),
                lambda d: first_dims[d]
            )
        END AS result_dims,
        CASE
            WHEN result = 'first'
            THEN first_type
            WHEN result = 'bool'
            THEN 'bool'
            WHEN has_dtype
            THEN NULL
            WHEN result = 'reduced' AND argument_count <> 3
                AND first_type IN ('bool', 'int', 'short', 'short int', 'signed char',
                                   'unsigned char')
            THEN 'long'
            WHEN len(types_of_large) = 1
            THEN types_of_large[1]
            WHEN len(types_of_large) = 0 AND len(types_of_all) = 1
            THEN types_of_all[1]
        END AS result_type
    FROM results
)
SELECT
    shape_number,
    CASE WHEN result = 'reduced' THEN 'reduction' ELSE 'elementwise' END AS family,
    false AS is_estimated,
    NULL::BIGINT[] AS factors,
    NULL::VARCHAR[] AS formats,
    list_append(inputs, {'dims': result_dims, 'type': result_type}) AS tensors
FROM written
-- At least one argument has to be a tensor.
WHERE len(inputs) > 0 OR result = 'first';
