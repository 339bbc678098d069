-- Scaled-dot-product attention, forward and backward: the operators and their costs.

-- One row per operator: the places of its arguments, counted from 1. NULL: no such argument.
--
--     query_at    query; key and value are the next two arguments
--     layout      order of the sizes. bhld: (batch, heads, length, size),
--                 blhd: (batch, length, heads, size)
--     causal_at   argument that says whether the mask is causal
--     causal      where the causal mask begins if the argument at causal_at
--                 is true. by number: that argument is a number that says where
--     mask_at     mask, given as a tensor
--     lengths_at  starts of the sequences, if sequences of several lengths
--                 are packed one after another. The longest lengths of
--                 queries and keys are two and three arguments later
--     window_at   window size to the left and, except in efficient
--                 operators, to the right in the next argument
CREATE OR REPLACE MACRO attention_operators() AS TABLE
SELECT name, is_backward, query_at, layout, causal_at, causal, mask_at, lengths_at, window_at
FROM (
    VALUES
        ('aten::scaled_dot_product_attention',
         false, 1, 'bhld', 6, 'top left', 4, NULL, NULL),
        ('aten::_scaled_dot_product_attention_math',
         false, 1, 'bhld', 6, 'top left', 4, NULL, NULL),
        ('aten::_scaled_dot_product_flash_attention',
         false, 1, 'bhld', 5, 'top left', NULL, NULL, NULL),
        ('aten::_scaled_dot_product_flash_attention_for_cpu',
         false, 1, 'bhld', 5, 'top left', NULL, NULL, NULL),
        ('aten::_scaled_dot_product_efficient_attention',
         false, 1, 'bhld', 7, 'top left', 4, NULL, NULL),
        ('aten::_scaled_dot_product_cudnn_attention',
         false, 1, 'bhld', 7, 'top left', 4, NULL, NULL),
        ('aten::_scaled_dot_product_fused_attention_overrideable',
         false, 1, 'bhld', 6, 'top left', 4, NULL, NULL),
        ('aten::_flash_attention_forward',
         false, 1, 'blhd', 9, 'bottom right', NULL, 4, 12),
        ('aten::_efficient_attention_forward',
         false, 1, 'blhd', 10, 'by number', 4, 5, 14),
        ('aten::_cudnn_attention_forward',
         false, 1, 'bhld', 11, 'top left', 4, 5, NULL),
        ('aten::_scaled_dot_product_flash_attention_backward',
         true, 2, 'bhld', 12, 'top left', NULL, NULL, NULL),
        ('aten::_scaled_dot_product_flash_attention_for_cpu_backward',
         true, 2, 'bhld', 8, 'top left', NULL, NULL, NULL),
        ('aten::_scaled_dot_product_efficient_attention_backward',
         true, 2, 'bhld', 12, 'top left', 5, NULL, NULL),
        ('aten::_scaled_dot_product_cudnn_attention_backward',
         true, 2, 'bhld', 15, 'top left', 9, NULL, NULL),
        ('aten::_scaled_dot_product_fused_attention_overrideable_backward',
         true, 2, 'bhld', 14, 'top left', 5, NULL, NULL),
        ('aten::_flash_attention_backward',
         true, 2, 'blhd', 12, 'bottom right', NULL, 7, 16),
        ('aten::_efficient_attention_backward',
         true, 2, 'blhd', 15, 'by number', 5, 7, 19),
        -- flash-attention, aiter and xFormers
        ('FlashAttnFunc', false, 1, 'blhd', 6, 'bottom right', NULL, NULL, NULL),
        ('flash_attn::_flash_attn_forward', false, 1, 'blhd', 6, 'bottom right', NULL, NULL, 7),
        ('flash_attn::_flash_attn_backward',
         true, 2, 'blhd', 12, 'bottom right', NULL, NULL, 13),
        ('flash_attn::_flash_attn_varlen_forward',
         false, 1, 'blhd', 10, 'bottom right', NULL, 4, 11),
        ('flash_attn::_flash_attn_varlen_backward',
         true, 2, 'blhd', 16, 'bottom right', NULL, 10, 17),
        ('aiter::mha_fwd', false, 1, 'blhd', 6, 'bottom right', NULL, NULL, 7),
        ('aiter::fmha_v3_fwd', false, 1, 'blhd', 6, 'bottom right', NULL, NULL, 7),
        ('aiter::_flash_attn_forward', false, 1, 'blhd', 6, 'bottom right', NULL, NULL, 7),
        ('aiter::mha_bwd', true, 2, 'blhd', 9, 'bottom right', NULL, NULL, 10),
        ('aiter::fmha_v3_bwd', true, 2, 'blhd', 9, 'bottom right', NULL, NULL, 10),
        ('aiter::mha_varlen_fwd', false, 1, 'blhd', 13, 'bottom right', NULL, 4, 14),
        ('aiter::fmha_v3_varlen_fwd', false, 1, 'blhd', 13, 'bottom right', NULL, 4, 14),
        ('flash_attn_3::fwd', false, 1, 'blhd', 25, 'bottom right', NULL, NULL, 26),
        ('xformers::efficient_attention_forward_cutlass',
         false, 1, 'blhd', 10, 'by number', 4, 5, NULL)
) AS operators (
    name, is_backward, query_at, layout, causal_at, causal, mask_at, lengths_at, window_at
);

-- Reorders the sizes (..., length, heads, size) to (..., heads, length, size).
CREATE OR REPLACE MACRO heads_first(dims) AS
list_concat(dims[:-4], [dims[-2], dims[-3], dims[-1]]);

-- One row per shape of an attention operator, if its sizes fit together: the factors whose product
-- is the number of operations, and the tensors that move.
--
-- `shapes`: rows of numbered_shapes. A shape is an operator's name with the sizes (dims), types and
--   values (texts) of its arguments.
--
-- Operations: d is the size of a query and a key, and dv is the size of a value. Each pair of a
-- query and a key needs 2 (d + dv) operations: d products for the score, and dv products for the
-- output. In a backward pass, each pair needs 2 (3 d + 2 dv) operations:
--
--   * d products for each of: the score again, the query's gradient, the key's gradient
--   * dv products for each of: the score's gradient, the value's gradient
--
-- Pairs count per batch element and per head of the query, even if key and value have fewer heads
-- (grouped queries).
--
-- This drawing shows the pairs for L = 3 queries and S = 5 keys, and their number:
--
--     not causal       causal, top left      causal, bottom right
--     x x x x x        x . . . .             x x x . .
--     x x x x x        x x . . .             x x x x .
--     x x x x x        x x x . .             x x x x x
--     L S = 15         6                     12
--
-- If L = S, the causal mask leaves L (L + 1) / 2 pairs, not half of L S. A mask given as a tensor
-- does not reduce the number of pairs.
--
-- In two cases, the number of pairs is an upper bound (is_estimated):
--
--   * If sequences of several lengths are packed, only the longest lengths are known. The number is
--     the lower of two products: all queries times the longest number of keys, and all keys times
--     the longest number of queries.
--   * If there is a window, the number includes the pairs outside of the window.
--
-- Bytes: query, key, value, mask and output move once. In a backward pass, the gradients of query,
-- key, value and output also move once.
--
-- Sources:
--
--   * sdpa_flop_count and sdpa_backward_flop_count of torch/utils/flop_counter.py. They do not
--     handle causal masks.
--   * torch.nn.functional.scaled_dot_product_attention: the mask from the top left
--   * flash attention 2.1: the mask from the bottom right
--   * aten's custom_mask_type: 0 none, 1 top left, 2 bottom right
--   * signatures of aten/src/ATen/native/native_functions.yaml
CREATE OR REPLACE MACRO attentions(shapes) AS TABLE
WITH
arguments AS MATERIALIZED (
    SELECT
        s.shape_number,
        o.is_backward,
        o.layout,
        coalesce(len(s.dims[o.lengths_at]) = 1, false) AS is_packed,
        o.layout = 'blhd' OR is_packed AS lengths_first,
        s.dims[o.query_at] AS query_dims,
        s.dims[o.query_at + 1] AS key_dims,
        s.dims[o.query_at + 2] AS value_dims,
        s.dims[o.mask_at] AS mask_dims,
        s.types[o.query_at] AS query_type,
        s.types[o.query_at + 1] AS key_type,
        s.types[o.query_at + 2] AS value_type,
        CASE WHEN o.mask_at IS NULL THEN '' ELSE coalesce(s.types[o.mask_at], '') END
            AS mask_type,
        CASE
            WHEN o.causal = 'by number'
            THEN CASE s.texts[o.causal_at]
                WHEN '0' THEN 'none'
                WHEN '1' THEN 'top left'
                WHEN '2' THEN 'bottom right'
            END
            WHEN TRY_CAST(s.texts[o.causal_at] AS BOOLEAN)
            THEN o.causal
            WHEN NOT TRY_CAST(s.texts[o.causal_at] AS BOOLEAN)
            THEN 'none'
        END AS causal,
        TRY_CAST(s.texts[o.lengths_at + 2] AS BIGINT) AS longest_query,
        TRY_CAST(s.texts[o.lengths_at + 3] AS BIGINT) AS longest_key,
        coalesce(
            TRY_CAST(s.texts[o.window_at] AS BIGINT) >= 0
            OR TRY_CAST(s.texts[o.window_at + 1] AS BIGINT) >= 0
                AND NOT contains(s.name, 'efficient'),
            false
        ) AS has_window
    FROM query_table(shapes) AS s
    JOIN attention_operators() AS o ON o.name = s.name
    -- With the load of a step, served_attentions knows more.
    WHERE s.context IS NULL
),
ordered AS (
    SELECT
        *,
        CASE WHEN lengths_first THEN heads_first(query_dims) ELSE query_dims END AS q,
        CASE WHEN lengths_first THEN heads_first(key_dims) ELSE key_dims END AS k,
        CASE WHEN lengths_first THEN heads_first(value_dims) ELSE value_dims END AS v
    FROM arguments
    WHERE len(query_dims) >= CASE WHEN layout = 'blhd' AND NOT is_packed THEN 4 ELSE 3 END
      AND len(key_dims) = len(query_dims)
      AND len(value_dims) = len(query_dims)
),
measured AS (
    SELECT
        *,
        q[:-3] AS around,
        q[-2]::HUGEINT AS query_count,
        k[-2]::HUGEINT AS key_count,
        q[-1]::HUGEINT AS size,
        v[-1]::HUGEINT AS value_size,
        least(query_count, key_count) AS shorter
    FROM ordered
    WHERE q[-1] = k[-1]
      AND v[:-2] = k[:-2]
      -- Each outer size of the key equals the query's size or divides it (fewer heads, or 1).
      AND list_bool_and(list_transform(
          list_zip(q[:-3], k[:-3]),
          lambda sizes: sizes[1] = sizes[2] OR coalesce(sizes[1] % sizes[2] = 0, false)
      ))
),
paired AS (
    SELECT
        *,
        CASE
            WHEN is_packed
            THEN least(query_count * longest_key, key_count * longest_query)
            WHEN causal = 'none'
            THEN query_count * key_count
            WHEN causal = 'top left'
            THEN shorter * (shorter + 1) // 2 + (query_count - shorter) * key_count
            WHEN causal = 'bottom right'
            THEN shorter * (shorter + 1) // 2 + shorter * (key_count - shorter)
        END AS pair_count
    FROM measured
)
SELECT
    shape_number,
    CASE WHEN is_backward THEN 'attention backward' ELSE 'attention' END AS family,
    is_packed OR has_window AS is_estimated,
    list_concat(
        [2],
        around,
        [
            TRY_CAST(pair_count AS BIGINT),
            TRY_CAST(
                CASE
                    WHEN is_backward THEN 3 * size + 2 * value_size
                    ELSE size + value_size
                END AS BIGINT
            )
        ]
    ) AS factors,
    [query_type, key_type, value_type] AS formats,
    list_concat(
        [
            {'dims': q, 'type': query_type},
            {'dims': k, 'type': key_type},
            {'dims': v, 'type': value_type},
            {'dims': list_append(q[:-2], v[-1]), 'type': query_type},
            {'dims': mask_dims, 'type': mask_type}
        ],
        CASE
            WHEN is_backward
            THEN [
                {'dims': q, 'type': query_type},
                {'dims': k, 'type': key_type},
                {'dims': v, 'type': value_type},
                {'dims': list_append(q[:-2], v[-1]), 'type': query_type}
            ]
            ELSE []
        END
    ) AS tensors
FROM paired;
