-- The costs of operators that mostly move memory.
--
-- reads: joint_type, memory_bound_operators, scalar_type, type_rank

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
-- Joint type: PyTorch's type promotion, as in joint_type. A number that is not a tensor does not
-- change it.
--
-- Types of sum, mean and prod: the dtype, if it is given. Otherwise the result of whole numbers has
-- the type long.
--
-- A call with another number of arguments has no row, unless the last one is a tensor of the
-- result's size (`out`). TorchScript records other calls: it adds the arguments of the calls around
-- a call, so the list is not reliable.
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
        o.results,
        s.dims[1] AS first_dims,
        s.types[1] AS first_type,
        s.types,
        CASE WHEN o.dims_at IS NULL THEN '' ELSE s.texts[o.dims_at] END AS named_dims,
        CASE
            WHEN len(s.dims) > o.argument_count
            THEN {'dims': s.dims[-1], 'type': coalesce(s.types[len(s.dims)], '')}
        END AS out,
        CASE
            WHEN o.result = 'scanned' OR list_contains(o.results, 'sum')
            THEN {'type': s.types[o.argument_count], 'text': s.texts[o.argument_count]}
        END AS dtype,
        list_filter(
            list_transform(o.reads, lambda i: {'dims': s.dims[i], 'type': s.types[i]}),
            lambda a: a.type IS NULL OR a.type NOT IN ('', 'Scalar', 'None')
        ) AS inputs,
        -- The third argument of div is a rounding mode, or the result.
        o.argument_count BETWEEN len(s.dims) - 1 AND len(s.dims)
        AND NOT (
            s.name = 'aten::div'
            AND o.argument_count = 3
            AND coalesce(s.types[3], '') NOT IN ('', 'Scalar', 'None')
        ) AS fits
    FROM query_table(shapes) AS s
    JOIN memory_bound_operators() AS o ON o.name = s.name
),
chosen AS (
    SELECT *
    FROM arguments
    WHERE fits
    QUALIFY out IS NULL OR count(*) OVER (PARTITION BY shape_number) = 1
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
        joint_type(list_transform(
            inputs,
            lambda a: {'type': a.type, 'rank': type_rank(a.type), 'is_large': len(a.dims) > 0}
        )) AS joint,
        -- The dimensions that are reduced, counted from 1. They are given as a list or as one
        -- number. A number below zero counts from the last dimension.
        CASE
            WHEN result <> 'reduced'
            THEN NULL
            WHEN named_dims IN ('', '[]')
            THEN range(1, len(first_dims) + 1)
            ELSE list_transform(
                coalesce(TRY_CAST(named_dims AS BIGINT[]), [TRY_CAST(named_dims AS BIGINT)]),
                lambda d: CASE WHEN d < 0 THEN d + len(first_dims) + 1 ELSE d + 1 END
            )
        END AS reduced,
        -- The type of a sum of the first argument.
        CASE
            WHEN dtype.type <> '' THEN scalar_type(dtype.text)
            WHEN type_rank(first_type) < 20 THEN 'long'
            ELSE first_type
        END AS type_of_sum
    FROM chosen
),
written AS (
    SELECT
        *,
        CASE
            WHEN result IN ('first', 'scanned')
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
        END AS written_dims,
        CASE
            WHEN out IS NOT NULL
            THEN [out.type]
            WHEN result = 'first'
            THEN [first_type]
            WHEN result = 'scanned'
            THEN [type_of_sum]
            WHEN result = 'bool'
            THEN ['bool']
            WHEN result = 'float' AND type_rank(joint) < 20
            THEN ['float']
            WHEN result = 'reduced'
            THEN list_transform(
                results,
                lambda type: CASE type
                    WHEN 'sum' THEN type_of_sum WHEN 'self' THEN first_type ELSE type
                END
            )
            ELSE [joint]
        END AS written_types
    FROM results
    -- At least one argument has to be a tensor.
    WHERE len(inputs) > 0 OR result = 'first'
),
-- The sizes from the last dimension to the first have been joined: back in order.
ordered AS (
    SELECT
        *,
        CASE
            WHEN result IN ('promoted', 'float', 'bool') THEN list_reverse(written_dims)
            ELSE written_dims
        END AS result_dims
    FROM written
)
SELECT
    shape_number,
    CASE WHEN result = 'reduced' THEN 'reduction' ELSE 'elementwise' END AS family,
    false AS is_estimated,
    NULL::BIGINT[] AS factors,
    NULL::VARCHAR[] AS formats,
    list_concat(
        inputs,
        list_transform(written_types, lambda type: {'dims': result_dims, 'type': type})
    ) AS tensors
FROM ordered
WHERE out IS NULL
   OR out.type NOT IN ('', 'Scalar', 'ScalarList', 'None') AND out.dims = result_dims;
