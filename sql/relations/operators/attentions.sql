-- Scaled-dot-product attention, forward and backward: the costs.
--
-- reads: attention_operators

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
-- It is also an estimate if the order of the sizes is a guess.
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
        o.layout = 'by size' AS is_guessed,
        CASE o.layout
            WHEN 'by size' THEN coalesce(s.dims[o.query_at][-3] >= s.dims[o.query_at][-2], false)
            ELSE o.layout = 'blhd' OR is_packed
        END AS lengths_first,
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
    WHERE len(query_dims) >= CASE WHEN layout <> 'bhld' AND NOT is_packed THEN 4 ELSE 3 END
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
    is_packed OR has_window OR is_guessed AS is_estimated,
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
