-- Operators that mostly move memory: elementwise operators, copies, softmax and reductions.

-- One row per operator and number of arguments.
--
--     argument_count  number of arguments
--     reads           arguments that the operator reads, counted from 1
--     result          promoted: has the joint size and the joint type of the read arguments
--                     bool: has the joint size of the read arguments and the type bool
--                     float: as promoted, but whole numbers become float
--                     first: is the first argument itself
--                     scanned: has the first argument's sizes, and the type of its sum
--                     reduced: lacks the dimensions that the argument at dims_at names; lacks all
--                     dimensions if this argument is missing or empty
--     results         types of the results of a reduction. sum: the type of a sum. self: the first
--                     argument's type
--
-- With one more argument, a tensor, the operator writes its result there (`out`).
--
-- Each operator in `elementwise` also has an in-place form. The in-place form has an _ after its
-- name and the result `first`.
--
-- shared: session
CREATE OR REPLACE MACRO memory_bound_operators() AS TABLE
WITH
elementwise (names, argument_count, reads, result) AS (
    VALUES
        (
            ['abs', 'neg', 'floor', 'ceil', 'round', 'trunc', 'frac', 'sign', 'sgn', 'square',
             'relu', 'relu6', 'hardsigmoid', 'hardswish', 'silu', 'mish', 'bitwise_not'],
            1, [1], 'promoted'
        ),
        (
            ['exp', 'exp2', 'expm1', 'log', 'log2', 'log10', 'log1p', 'sqrt', 'rsqrt',
             'reciprocal', 'sin', 'cos', 'tan', 'sinh', 'cosh', 'tanh', 'asin', 'acos', 'atan',
             'asinh', 'acosh', 'atanh', 'sigmoid', 'erf', 'erfc', 'erfinv', 'lgamma', 'digamma'],
            1, [1], 'float'
        ),
        (['gelu', 'leaky_relu', 'clamp_min', 'clamp_max', 'celu'], 2, [1], 'promoted'),
        (['hardtanh', 'clamp', 'threshold'], 3, [1], 'promoted'),
        (['nan_to_num', 'elu'], 4, [1], 'promoted'),
        (
            ['mul', 'pow', 'bitwise_and', 'bitwise_or', 'bitwise_xor', 'fmod', 'remainder',
             'floor_divide', 'copysign', 'hypot'],
            2, [1, 2], 'promoted'
        ),
        (['div', 'atan2', 'xlogy'], 2, [1, 2], 'float'),
        (['add', 'sub', 'div', 'lerp', 'masked_fill'], 3, [1, 2], 'promoted'),
        (['addcmul', 'addcdiv'], 4, [1, 2, 3], 'promoted'),
        (['logical_not'], 1, [1], 'bool'),
        (
            ['eq', 'ne', 'lt', 'le', 'gt', 'ge', 'logical_and', 'logical_or', 'logical_xor'],
            2, [1, 2], 'bool'
        )
),
others (names, argument_count, reads, result) AS (
    VALUES
        (['rsub', 'elu_backward'], 3, [1, 2], 'promoted'),
        (['where'], 3, [1, 2, 3], 'promoted'),
        (['max', 'min'], 2, [1, 2], 'promoted'),
        (['maximum', 'minimum', 'fmax', 'fmin', 'sigmoid_backward', 'tanh_backward',
          'silu_backward', 'mish_backward', 'hardswish_backward', 'hardsigmoid_backward'],
         2, [1, 2], 'promoted'),
        (['threshold_backward', 'gelu_backward'], 3, [1, 2], 'promoted'),
        (['leaky_relu_backward', 'hardtanh_backward', 'softplus_backward'],
         4, [1, 2], 'promoted'),
        (['softplus'], 3, [1], 'promoted'),
        (['isnan', 'isinf', 'signbit'], 1, [1], 'bool'),
        (['_softmax', '_log_softmax'], 3, [1], 'promoted'),
        (['_softmax_backward_data', '_log_softmax_backward_data'], 4, [1, 2], 'promoted'),
        (['copy_'], 3, [2], 'first'),
        (['fill_'], 2, []::INTEGER[], 'first'),
        (['zero_'], 1, []::INTEGER[], 'first'),
        (['cumsum', 'cumprod'], 3, [1], 'scanned')
),
reductions (names, argument_count, dims_at, results) AS (
    VALUES
        -- With 2 arguments, the operator reduces all dimensions. With 4, the second argument names
        -- the dimensions.
        (['sum', 'mean', 'prod'], 2, NULL, ['sum']),
        (['sum', 'mean', 'prod'], 4, 2, ['sum']),
        (['amax', 'amin', 'logsumexp'], 3, 2, ['self']),
        (['max', 'min'], 1, NULL, ['self']),
        (['max', 'min'], 3, 2, ['self', 'long']),
        (['argmax', 'argmin'], 3, 2, ['long']),
        (['any', 'all'], 1, NULL, ['bool']),
        (['any', 'all'], 3, 2, ['bool']),
        (['std', 'var'], 2, NULL, ['self']),
        (['std', 'var'], 4, 2, ['self']),
        (['std_mean', 'var_mean'], 4, 2, ['self', 'self']),
        (['norm'], 2, NULL, ['self']),
        (['norm'], 4, 3, ['self']),
        (['linalg_vector_norm', 'norm'], 5, 3, ['sum'])
),
named AS (
    SELECT unnest(names) AS name, argument_count, reads, result FROM elementwise
    UNION ALL
    SELECT unnest(names) || '_' AS name, argument_count, reads, 'first' AS result FROM elementwise
    UNION ALL
    SELECT unnest(names) AS name, argument_count, reads, result FROM others
)
SELECT
    'aten::' || name AS name, argument_count, reads, result, NULL::INTEGER AS dims_at,
    NULL::VARCHAR[] AS results
FROM named
UNION ALL
SELECT
    'aten::' || unnest(names) AS name, argument_count, [1] AS reads, 'reduced' AS result, dims_at,
    results
FROM reductions;
