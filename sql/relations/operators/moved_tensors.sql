-- The tensors that an operator of moving_operators moves.
--
-- reads: moving_operators

-- Sizes after padding. `padding` begins with the two sides of the last dimension.
CREATE OR REPLACE MACRO padded_sizes(sizes, padding) AS
list_transform(
    range(0, len(sizes)),
    lambda i: sizes[i + 1]
        + coalesce(padding[2 * (len(sizes) - i) - 1], 0)
        + coalesce(padding[2 * (len(sizes) - i)], 0)
);

-- Sizes after pooling. A list with one element applies to all dimensions, and an empty list of
-- strides means the kernel's sizes. With I, K and O as sizes of input, kernel and result:
--
--     O = (I + 2 padding - dilation (K - 1) - 1) / stride + 1, rounded down or up
--
-- If it rounds up, the last place has to begin inside of the input or its left padding. NULL if
-- the kernel has one dimension.
-- Source: documentation of torch.nn.MaxPool2d, pooling_output_shape of ATen/native/Pool.h
CREATE OR REPLACE MACRO pooled_sizes(sizes, kernel, stride, padding, dilation, rounds_up) AS
CASE WHEN len(kernel) > 1 THEN list_concat(
    sizes[:len(sizes) - len(kernel)],
    list_transform(
        list_transform(
            range(1, len(kernel) + 1),
            lambda i: {
                'size': sizes[len(sizes) - len(kernel) + i],
                'kernel': kernel[i],
                'stride': CASE
                    WHEN len(stride) = 0 THEN kernel[i]
                    WHEN len(stride) = 1 THEN stride[1]
                    ELSE stride[i]
                END,
                'padding': CASE WHEN len(padding) = 1 THEN padding[1] ELSE padding[i] END,
                'dilation': CASE WHEN len(dilation) = 1 THEN dilation[1] ELSE dilation[i] END
            }
        ),
        lambda d: CASE
            WHEN d.stride < 1
            THEN NULL
            WHEN NOT rounds_up
            THEN (d.size + 2 * d.padding - d.dilation * (d.kernel - 1) - 1) // d.stride + 1
            ELSE (
                d.size + 2 * d.padding - d.dilation * (d.kernel - 1) - 1 + d.stride - 1
            ) // d.stride + 1 - (
                (
                    d.size + 2 * d.padding - d.dilation * (d.kernel - 1) - 1 + d.stride - 1
                ) // d.stride * d.stride >= d.size + d.padding
            )::INTEGER
        END
    )
) END;

-- One row per shape of an operator in moving_operators: the tensors that move. Operations are not
-- counted.
--
-- `shapes`: rows of numbered_shapes. A shape is an operator's name with the sizes (dims), types and
--   values (texts) of its arguments.
--
-- Where a few rows of a large tensor move, such as the rows of an embedding that the indices name,
-- only these rows count, once per index. Where a caller's cache is written, only the new rows
-- count.
--
-- Sources: signatures of aten/src/ATen/native/native_functions.yaml, and of the operators that
-- vLLM, SGLang and aiter register.
CREATE OR REPLACE MACRO moved_tensors(shapes) AS TABLE
WITH
arguments AS (
    SELECT
        s.shape_number,
        o.family,
        s.dims,
        s.types,
        s.texts,
        TRY_CAST(s.texts[o.dim_at] AS BIGINT) AS given_dim,
        o.dim_at IS NOT NULL AS has_dim,
        list_transform(
            list_filter(o.moved, lambda entry: entry <> '*'),
            lambda entry: regexp_extract(
                entry, '^(\d+)([@$%=#+~!^]?)(\d*):?(.*)$', ['n', 'how', 'm', 'type']
            )
        ) AS entries,
        list_contains(o.moved, '*') AS moves_all
    FROM query_table(shapes) AS s
    JOIN moving_operators() AS o
        ON o.name = s.name
        AND coalesce(o.argument_count = len(s.dims), true)
    WHERE len(s.dims) > 0
),
placed AS (
    SELECT
        shape_number,
        family,
        dims,
        types,
        texts,
        moves_all,
        list_transform(
            entries,
            lambda e: {
                'how': e.how,
                'sizes': dims[e.n::BIGINT],
                -- The dimension along which rows lie, counted from 1.
                'axis': CASE
                    WHEN NOT has_dim THEN 1
                    WHEN given_dim < 0 THEN given_dim + len(dims[e.n::BIGINT]) + 1
                    ELSE given_dim + 1
                END,
                'of_index': dims[TRY_CAST(e.m AS BIGINT)],
                'text': texts[TRY_CAST(e.m AS BIGINT)],
                'dilation': CASE WHEN e.m = '5' THEN texts[5] ELSE '[1]' END,
                'rounds_up': texts[TRY_CAST(e.m AS BIGINT) + 1],
                'type': CASE
                    WHEN e.type = '' THEN types[e.n::BIGINT]
                    WHEN e.type = 'b8' THEN 'c10::Float8_e4m3fn'
                    ELSE coalesce(types[TRY_CAST(e.type AS BIGINT)], e.type)
                END
            }
        ) AS entries
    FROM arguments
)
SELECT
    shape_number,
    family,
    len(list_filter(entries, lambda e: e.how = '!')) > 0 AS is_estimated,
    NULL::BIGINT[] AS factors,
    NULL::VARCHAR[] AS formats,
    list_concat(
        CASE
            WHEN moves_all
            THEN list_transform(
                range(1, len(dims) + 1), lambda i: {'dims': dims[i], 'type': types[i]}
            )
            ELSE []
        END,
        list_transform(
            entries,
            lambda e: {
                'dims': CASE e.how
                    WHEN ''
                    THEN e.sizes
                    WHEN '@'
                    THEN CASE WHEN e.axis IS NOT NULL THEN list_concat(e.of_index, list_transform(
                        list_filter(range(1, len(e.sizes) + 1), lambda i: i <> e.axis),
                        lambda i: e.sizes[i]
                    )) END
                    WHEN '$'
                    THEN list_transform(
                        range(1, len(e.sizes) + 1),
                        lambda i: CASE
                            WHEN i = e.axis THEN TRY_CAST(e.text AS BIGINT)
                            WHEN i <> e.axis THEN e.sizes[i]
                        END
                    )
                    WHEN '!'
                    THEN CASE WHEN len(e.sizes) > 0 THEN e.sizes END
                    WHEN '^'
                    THEN [TRY_CAST(ceil(
                        CASE
                            WHEN len(texts) = 2 THEN TRY_CAST(texts[1] AS DOUBLE)
                            ELSE (TRY_CAST(texts[2] AS DOUBLE) - TRY_CAST(texts[1] AS DOUBLE))
                                / nullif(TRY_CAST(texts[3] AS DOUBLE), 0)
                        END
                    ) AS BIGINT)]
                    WHEN '%'
                    THEN list_concat(
                        e.sizes[:len(e.sizes) - len(TRY_CAST(e.text AS BIGINT[]))],
                        TRY_CAST(e.text AS BIGINT[])
                    )
                    WHEN '='
                    THEN TRY_CAST(e.text AS BIGINT[])
                    WHEN '#'
                    THEN [TRY_CAST(e.text AS BIGINT), e.sizes[-1]]
                    WHEN '+'
                    THEN padded_sizes(e.sizes, TRY_CAST(e.text AS BIGINT[]))
                    WHEN '~'
                    THEN pooled_sizes(
                        e.sizes,
                        TRY_CAST(texts[2] AS BIGINT[]),
                        TRY_CAST(texts[3] AS BIGINT[]),
                        TRY_CAST(texts[4] AS BIGINT[]),
                        TRY_CAST(e.dilation AS BIGINT[]),
                        TRY_CAST(e.rounds_up AS BOOLEAN)
                    )
                END,
                'type': e.type
            }
        )
    ) AS tensors
FROM placed;
