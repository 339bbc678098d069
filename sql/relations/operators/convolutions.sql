-- Convolutions, forward and backward: the operators and their costs.

-- One row per operator: the places of its arguments, counted from 1. NULL: no such argument. If
-- transposed_at is NULL, the operator's name says whether the convolution is transposed.
--
-- shared: session
CREATE OR REPLACE MACRO convolution_operators() AS TABLE
SELECT
    name,
    gradient_at,
    input_at,
    weight_at,
    bias_at,
    stride_at,
    padding_at,
    dilation_at,
    transposed_at,
    output_padding_at,
    groups_at,
    mask_at
FROM (
    VALUES
        ('aten::convolution', NULL, 1, 2, 3, 4, 5, 6, 7, 8, 9, NULL),
        ('aten::_convolution', NULL, 1, 2, 3, 4, 5, 6, 7, 8, 9, NULL),
        ('aten::convolution_overrideable', NULL, 1, 2, 3, 4, 5, 6, 7, 8, 9, NULL),
        ('aten::cudnn_convolution', NULL, 1, 2, NULL, 4, 3, 5, NULL, NULL, 6, NULL),
        ('aten::cudnn_convolution_relu', NULL, 1, 2, 3, 4, 5, 6, NULL, NULL, 7, NULL),
        ('aten::cudnn_convolution_transpose', NULL, 1, 2, NULL, 5, 3, 6, NULL, 4, 7, NULL),
        ('aten::miopen_convolution', NULL, 1, 2, 3, 5, 4, 6, NULL, NULL, 7, NULL),
        ('aten::miopen_depthwise_convolution', NULL, 1, 2, 3, 5, 4, 6, NULL, NULL, 7, NULL),
        ('aten::miopen_convolution_transpose', NULL, 1, 2, 3, 6, 4, 7, NULL, 5, 8, NULL),
        ('aten::convolution_backward', 1, 2, 3, NULL, 5, 6, 7, 8, 9, 10, 11)
) AS operators (
    name, gradient_at, input_at, weight_at, bias_at, stride_at, padding_at, dilation_at,
    transposed_at, output_padding_at, groups_at, mask_at
);

-- One row per shape of a convolution, if its sizes fit together: the factors whose product is the
-- number of operations, and the tensors that move.
--
-- `shapes`: rows of numbered_shapes. A shape is an operator's name with the sizes (dims), types and
--   values (texts) of its arguments.
--
-- Operations: 2 N times the number of weights times the number of positions. N is the number of
-- samples. In each sample, each weight is multiplied at each position. I, K and O are the sizes of
-- input, weight and output. Ci and Co are the numbers of input and output channels, and g is the
-- number of groups:
--
--     convolution: input (N, Ci, I...), weight (Co, Ci/g, K...)
--         one position per output element of a channel,
--         O = floor((I + 2 padding - dilation (K - 1) - 1) / stride) + 1
--     transposed: input (N, Ci, I...), weight (Ci, Co/g, K...)
--         one position per input element of a channel,
--         O = (I - 1) stride - 2 padding + dilation (K - 1) + output_padding + 1
--
-- In a backward pass, the input's gradient takes as many operations as the convolution itself. The
-- weight's gradient takes the same number. The argument output_mask says which gradients are
-- computed. Positions in the padding count. Adding a bias does not count.
--
-- Bytes: input, weight, bias and output move once. In a backward pass, these tensors move:
--
--   * the output's gradient
--   * the weight and the input's gradient, if the input's gradient is computed
--   * the input and the weight's gradient, if the weight's gradient is computed
--   * the bias's gradient, if it is computed
--
-- Sources:
--
--   * conv_flop_count and conv_backward_flop of torch/utils/flop_counter.py. They count g times too
--     many operations for the weight's gradient.
--   * documentation of torch.nn.Conv2d and ConvTranspose2d: output sizes
--   * signatures of aten/src/ATen/native/native_functions.yaml
CREATE OR REPLACE MACRO convolutions(shapes) AS TABLE
WITH
arguments AS MATERIALIZED (
    SELECT
        s.shape_number,
        o.gradient_at IS NOT NULL AS is_backward,
        s.dims[o.gradient_at] AS gradient_dims,
        s.types[o.gradient_at] AS gradient_type,
        s.dims[o.input_at] AS input_dims,
        s.types[o.input_at] AS input_type,
        s.dims[o.weight_at] AS weight_dims,
        s.types[o.weight_at] AS weight_type,
        s.dims[o.bias_at] AS bias_dims,
        CASE WHEN o.bias_at IS NULL THEN '' ELSE coalesce(s.types[o.bias_at], '') END
            AS bias_type,
        TRY_CAST(s.texts[o.stride_at] AS BIGINT[]) AS stride,
        TRY_CAST(s.texts[o.padding_at] AS BIGINT[]) AS padding,
        TRY_CAST(s.texts[o.dilation_at] AS BIGINT[]) AS dilation,
        CASE
            WHEN o.output_padding_at IS NULL THEN [0]
            ELSE TRY_CAST(s.texts[o.output_padding_at] AS BIGINT[])
        END AS output_padding,
        CASE
            WHEN o.transposed_at IS NULL THEN suffix(s.name, '_transpose')
            ELSE TRY_CAST(s.texts[o.transposed_at] AS BOOLEAN)
        END AS transposed,
        TRY_CAST(s.texts[o.groups_at] AS BIGINT) AS group_count,
        TRY_CAST(s.texts[o.mask_at] AS BOOLEAN[]) AS mask
    FROM query_table(shapes) AS s
    JOIN convolution_operators() AS o ON o.name = s.name
),
-- The settings for each dimension. A list with one element applies to all dimensions. The settings
-- are DOUBLE, so that computing the output sizes cannot overflow.
dimensions AS (
    SELECT
        *,
        list_transform(
            range(1, len(weight_dims) - 1),
            lambda i: {
                'size': input_dims[2 + i]::DOUBLE,
                'span': (CASE WHEN len(dilation) = 1 THEN dilation[1] ELSE dilation[i] END)::DOUBLE
                    * (weight_dims[2 + i] - 1),
                'stride': (CASE WHEN len(stride) = 1 THEN stride[1] ELSE stride[i] END)::DOUBLE,
                'padding':
                    (CASE WHEN len(padding) = 1 THEN padding[1] ELSE padding[i] END)::DOUBLE,
                'output_padding': (CASE
                    WHEN len(output_padding) = 1 THEN output_padding[1] ELSE output_padding[i]
                END)::DOUBLE
            }
        ) AS settings
    FROM arguments
),
outputs AS (
    SELECT
        *,
        CASE
            WHEN is_backward
            THEN gradient_dims[3:]
            ELSE list_transform(
                settings,
                lambda s: TRY_CAST(
                    CASE
                        WHEN s.stride < 1
                            OR (NOT transposed AND s.span >= s.size + 2 * s.padding)
                        THEN NULL
                        WHEN transposed
                        THEN (s.size - 1) * s.stride - 2 * s.padding + s.span
                            + s.output_padding + 1
                        ELSE floor((s.size + 2 * s.padding - s.span - 1) / s.stride) + 1
                    END AS BIGINT
                )
            )
        END AS output_sizes,
        CASE WHEN transposed THEN weight_dims[2]::HUGEINT * group_count ELSE weight_dims[1] END
            AS output_channels
    FROM dimensions
),
fitting AS (
    SELECT
        *,
        list_concat([input_dims[1], TRY_CAST(output_channels AS BIGINT)], output_sizes)
            AS output_dims,
        coalesce(mask[1], false) AS makes_input,
        coalesce(mask[2], false) AS makes_weight
    FROM outputs
    WHERE len(input_dims) >= 3
      AND len(weight_dims) = len(input_dims)
      AND transposed IS NOT NULL
      AND group_count > 0
      AND weight_dims[1] % group_count = 0
      AND CASE
          WHEN transposed THEN input_dims[2] = weight_dims[1]
          ELSE input_dims[2] = weight_dims[2]::HUGEINT * group_count
      END
      AND (NOT is_backward OR (
          gradient_dims[1] = input_dims[1]
          AND gradient_dims[2] = output_channels
          AND len(gradient_dims) = len(input_dims)
          AND len(mask) = 3
      ))
)
SELECT
    shape_number,
    CASE WHEN is_backward THEN 'convolution backward' ELSE 'convolution' END AS family,
    false AS is_estimated,
    list_concat(
        [2, input_dims[1]],
        weight_dims,
        CASE WHEN transposed THEN input_dims[3:] ELSE output_sizes END,
        CASE WHEN is_backward THEN [makes_input::BIGINT + makes_weight::BIGINT] ELSE [] END
    ) AS factors,
    [input_type, weight_type] AS formats,
    CASE
        WHEN is_backward
        THEN [
            {'dims': gradient_dims, 'type': gradient_type},
            {'dims': weight_dims, 'type': CASE WHEN makes_input THEN weight_type ELSE '' END},
            {'dims': input_dims, 'type': CASE WHEN makes_input THEN input_type ELSE '' END},
            {'dims': input_dims, 'type': CASE WHEN makes_weight THEN input_type ELSE '' END},
            {'dims': weight_dims, 'type': CASE WHEN makes_weight THEN weight_type ELSE '' END},
            {'dims': gradient_dims[2:2], 'type': CASE WHEN mask[3] THEN weight_type ELSE '' END}
        ]
        ELSE [
            {'dims': input_dims, 'type': input_type},
            {'dims': weight_dims, 'type': weight_type},
            {'dims': bias_dims, 'type': bias_type},
            {'dims': output_dims, 'type': input_type}
        ]
    END AS tensors
FROM fitting;
