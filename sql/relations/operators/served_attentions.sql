-- Attention over caches of keys and values, as inference servers call it: the operators and their
-- costs.
--
-- reads: annotated_load, whole_product

-- One row per operator: the places of its arguments, counted from 1. NULL: no such argument.
--
--     query_at      queries: (tokens, heads, size), or (sequences, tokens, heads, size)
--     key_at        keys or their cache: its type counts. Values are alike
--     heads_at      dimension of this argument that has the number of heads, counted from 1, or
--                   from the last if below 0. NULL: all heads share latent keys
--     causal_at     argument that says whether the mask is causal. NULL: it is
--     window_at     size of the window to the left, followed by the size to the right
--     has_window    whether the layer can have a window that no argument shows
--     rotated_at    rest of the queries of latent attention, if it is an argument of its own
--     value_at      number that is the size of a latent value, or tensor whose last size it is.
--                   NULL: the last size of the first other argument with four dimensions
--     chosen_at     keys that sparse attention chose for each query, if they are given
--
-- shared: session
CREATE OR REPLACE MACRO served_attention_operators() AS TABLE
SELECT
    unnest(names) AS name, query_at, key_at, heads_at, causal_at, window_at, has_window,
    rotated_at, value_at, chosen_at
FROM (
    VALUES
        (['vllm::unified_attention', 'vllm::unified_attention_with_output'],
         1, 2, -2, NULL, NULL, true, NULL, NULL, NULL),
        (['aiter::mha_batch_prefill', 'aiter::mha_varlen_fwd', 'aiter::fmha_v3_varlen_fwd'],
         1, 2, -2, 13, 14, false, NULL, NULL, NULL),
        (['flash_attn::_flash_attn_varlen_forward'],
         1, 2, -2, 10, 11, false, NULL, NULL, NULL),
        (['_vllm_fa2_C::varlen_fwd'], 1, 2, -2, 16, 17, false, NULL, NULL, NULL),
        (['_vllm_fa3_C::fwd', 'sgl_kernel::fwd', 'flash_attn_3::fwd'],
         1, 2, -2, 25, 26, false, NULL, NULL, NULL),
        (['sglang_profiler::attention_paged_attention_ragged', 'aiter::paged_attention_ragged'],
         3, 4, -2, NULL, NULL, false, NULL, NULL, NULL),
        (['_C::paged_attention_v1'], 2, 3, 2, NULL, NULL, false, NULL, NULL, NULL),
        (['_C::paged_attention_v2', '_rocm_C::paged_attention', 'aiter::paged_attention_rocm'],
         5, 6, 2, NULL, NULL, false, NULL, NULL, NULL),
        (['aiter::pa_fwd_asm', 'aiter::pa_fwd'], 1, 2, 2, NULL, NULL, false, NULL, NULL, NULL),
        (['aiter::pa_decode_gluon'], 2, 3, 2, NULL, NULL, true, NULL, NULL, NULL),
        -- Latent keys (MLA)
        (['sgl_kernel::cutlass_mla_decode'], 2, 4, NULL, NULL, NULL, false, 3, 1, NULL),
        (['_C::sm100_cutlass_mla_decode'], 3, 5, NULL, NULL, NULL, false, 4, 1, NULL),
        (['sgl_kernel::fwd_kvcache_mla', '_flashmla_C::fwd_kvcache_mla'],
         1, 2, NULL, 7, NULL, false, NULL, 3, 11),
        (['sgl_kernel::sparse_prefill_fwd', '_flashmla_C::sparse_prefill_fwd'],
         1, 2, NULL, NULL, NULL, false, NULL, 5, 3),
        (['aiter::mla_decode_stage1_asm_fwd'],
         1, 2, NULL, NULL, NULL, false, NULL, NULL, NULL)
) AS operators (
    names, query_at, key_at, heads_at, causal_at, window_at, has_window, rotated_at, value_at,
    chosen_at
);

-- One row per shape of such an operator and load of the step around it: the factors whose product
-- is the number of operations, and the tensors that move.
--
-- `shapes`: rows of numbered_shapes. A shape is an operator's name with the sizes (dims), types and
--   values (texts) of its arguments, and its context: the name of the annotation around it, which
--   gives the load (see annotated_load).
--
-- Sequences: if the call has as many queries as the sequences in prefill together, it is for them.
-- If it has as many as the sequences in decode, it is for those. If it has as many as all or more,
-- it is for all: a recorded graph can pad the queries.
--
-- Operations: 2 (d + dv) per head and pair of a query and a key, where d is the size of a query and
-- dv the size of a value. For a sequence with q queries at the end of k keys, there are q k pairs.
-- With a causal mask, the last queries do not meet all keys, and q k - (q² - q) / 2 pairs remain.
-- In decode, q = 1 leaves k. With a window, the number of pairs is an upper bound (is_estimated).
--
-- Bytes: queries and output of the sequences move once, and the keys and values of their contexts.
-- Latent keys are as large as a query, and the values are a part of them.
--
-- Sparse attention over latent keys needs no load: each query meets the keys that were chosen for
-- it, and each of them moves once, but no more than there are. Places of keys that a short context
-- does not have also count, so it is an upper bound. The products are of the type of the queries.
--
-- Sources: schemas that vLLM, SGLang, FlashMLA and flash-attention register, and aiter's functions
CREATE OR REPLACE MACRO served_attentions(shapes) AS TABLE
WITH
arguments AS (
    SELECT
        s.shape_number,
        o.heads_at IS NULL AS is_latent,
        CASE
            WHEN len(s.dims[o.query_at]) = 4
            THEN list_prepend(s.dims[o.query_at][1] * s.dims[o.query_at][2], s.dims[o.query_at][3:])
            ELSE s.dims[o.query_at]
        END AS query_dims,
        s.types[o.query_at] AS query_type,
        s.dims[o.key_at][o.heads_at] AS key_heads,
        s.types[o.key_at] AS key_type,
        query_dims[3] + CASE
            WHEN o.rotated_at IS NULL THEN 0 ELSE s.dims[o.rotated_at][-1]
        END AS size,
        CASE
            WHEN o.heads_at IS NOT NULL
            THEN query_dims[3]
            WHEN o.value_at IS NULL
            THEN list_filter(s.dims[o.key_at + 1:], lambda d: len(d) = 4)[1][-1]
            ELSE coalesce(TRY_CAST(s.texts[o.value_at] AS BIGINT), s.dims[o.value_at][-1])
        END AS value_size,
        coalesce(TRY_CAST(s.texts[o.causal_at] AS BOOLEAN), true) AS is_causal,
        o.has_window
            OR coalesce(TRY_CAST(s.texts[o.window_at] AS BIGINT) >= 0, false) AS has_window,
        annotated_load(s.context) AS load,
        s.dims[o.key_at] AS key_dims,
        s.dims[o.chosen_at] AS chosen_dims,
        s.types[o.chosen_at] AS chosen_type,
        coalesce(chosen_type IN ('int', 'long int', 'long'), false) AS is_sparse
    FROM query_table(shapes) AS s
    JOIN served_attention_operators() AS o ON o.name = s.name
    WHERE s.context IS NOT NULL OR o.chosen_at IS NOT NULL
),
phases AS (
    SELECT
        *,
        query_dims[1] <> load.decode_query_tokens OR load.decode_query_tokens = 0 AS has_prefill,
        query_dims[1] <> load.prefill_query_tokens OR load.prefill_query_tokens = 0 AS has_decode
    FROM arguments
    WHERE len(query_dims) = 3 AND NOT is_sparse AND load IS NOT NULL
),
counted AS (
    SELECT
        *,
        has_prefill::INTEGER * load.prefill_query_tokens
            + has_decode::INTEGER * load.decode_query_tokens AS query_count,
        has_prefill::INTEGER * load.prefill_key_tokens
            + has_decode::INTEGER * load.decode_key_tokens AS key_count,
        has_prefill::INTEGER * (
            load.prefill_pair_tokens
            - is_causal::INTEGER * (load.prefill_square_tokens - load.prefill_query_tokens) // 2
        )
        + has_decode::INTEGER * (
            load.decode_pair_tokens
            - is_causal::INTEGER * (load.decode_square_tokens - load.decode_query_tokens) // 2
        ) AS pair_count
    FROM phases
)
SELECT
    shape_number,
    'attention' AS family,
    has_window AS is_estimated,
    [2, query_dims[2], size + value_size, pair_count] AS factors,
    [query_type, key_type] AS formats,
    [
        {'dims': [query_count, query_dims[2], size], 'type': query_type},
        {'dims': [query_count, query_dims[2], value_size], 'type': query_type},
        {'dims': [key_count, CASE WHEN is_latent THEN 1 ELSE key_heads END, size],
         'type': key_type},
        {'dims': [key_count, key_heads, value_size],
         'type': CASE WHEN is_latent THEN '' ELSE key_type END}
    ] AS tensors
FROM counted
WHERE query_count <= query_dims[1]
UNION ALL
SELECT
    shape_number,
    'attention' AS family,
    true AS is_estimated,
    list_concat([2, query_dims[2], size + value_size], chosen_dims) AS factors,
    [query_type] AS formats,
    [
        {'dims': query_dims, 'type': query_type},
        {'dims': [query_dims[1], query_dims[2], value_size], 'type': query_type},
        {'dims': [least(whole_product(key_dims[:-2]), whole_product(chosen_dims)), key_dims[-1]],
         'type': key_type},
        {'dims': chosen_dims, 'type': chosen_type}
    ] AS tensors
FROM arguments
WHERE is_sparse
  AND len(query_dims) = 3
  AND len(key_dims) > 2
  AND key_dims[-2] = 1
  AND len(chosen_dims) = 3;
