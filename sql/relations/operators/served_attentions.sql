-- Attention over caches of keys and values, as inference servers call it: the operators and their
-- costs.
--
-- reads: annotated_load

-- One row per operator: the places of its arguments, counted from 1. NULL: no such argument.
--
--     query_at      queries: (tokens, heads, size)
--     key_at        keys or their cache: its type counts. Values are alike
--     heads_at      dimension of this argument that has the number of heads, counted from 1, or
--                   from the last if below 0
--     causal_at     argument that says whether the mask is causal. NULL: it is
--     window_at     size of the window to the left, followed by the size to the right
--     has_window    whether the layer can have a window that no argument shows
CREATE OR REPLACE MACRO served_attention_operators() AS TABLE
SELECT unnest(names) AS name, query_at, key_at, heads_at, causal_at, window_at, has_window
FROM (
    VALUES
        (['vllm::unified_attention', 'vllm::unified_attention_with_output'],
         1, 2, -2, NULL, NULL, true),
        (['aiter::mha_batch_prefill'], 1, 2, -2, 14, 15, false),
        (['aiter::mha_varlen_fwd', 'aiter::fmha_v3_varlen_fwd'], 1, 2, -2, 13, 14, false),
        (['flash_attn::_flash_attn_varlen_forward'], 1, 2, -2, 10, 11, false),
        (['_vllm_fa2_C::varlen_fwd'], 1, 2, -2, 16, 17, false),
        (['_vllm_fa3_C::fwd', 'sgl_kernel::fwd', 'flash_attn_3::fwd'],
         1, 2, -2, NULL, NULL, true),
        (['sglang_profiler::attention_paged_attention_ragged', 'aiter::paged_attention_ragged'],
         3, 4, -2, NULL, NULL, false),
        (['_C::paged_attention_v1'], 2, 3, 2, NULL, NULL, false),
        (['_C::paged_attention_v2', '_rocm_C::paged_attention', 'aiter::paged_attention_rocm'],
         5, 6, 2, NULL, NULL, false),
        (['aiter::pa_fwd_asm', 'aiter::pa_fwd'], 1, 2, 2, NULL, NULL, false),
        (['aiter::pa_decode_gluon'], 2, 3, 2, NULL, NULL, true)
) AS operators (names, query_at, key_at, heads_at, causal_at, window_at, has_window);

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
-- Operations: 4 d per head and pair of a query and a key, where d is the size of a query. For a
-- sequence with q queries at the end of k keys, there are q k pairs. With a causal mask, the last
-- queries do not meet all keys, and q k - (q² - q) / 2 pairs remain. In decode, q = 1 leaves k.
-- With a window, the number of pairs is an upper bound (is_estimated).
--
-- Bytes: queries and output of the sequences move once, and the keys and values of their contexts.
CREATE OR REPLACE MACRO served_attentions(shapes) AS TABLE
WITH
arguments AS (
    SELECT
        s.shape_number,
        s.dims[o.query_at] AS query_dims,
        s.types[o.query_at] AS query_type,
        s.dims[o.key_at][o.heads_at] AS key_heads,
        s.types[o.key_at] AS key_type,
        coalesce(TRY_CAST(s.texts[o.causal_at] AS BOOLEAN), true) AS is_causal,
        o.has_window
            OR coalesce(TRY_CAST(s.texts[o.window_at] AS BIGINT) >= 0, false) AS has_window,
        annotated_load(s.context) AS load
    FROM query_table(shapes) AS s
    JOIN served_attention_operators() AS o ON o.name = s.name
    WHERE s.context IS NOT NULL
),
phases AS (
    SELECT
        *,
        query_dims[1] <> load.decode_query_tokens OR load.decode_query_tokens = 0 AS has_prefill,
        query_dims[1] <> load.prefill_query_tokens OR load.prefill_query_tokens = 0 AS has_decode
    FROM arguments
    WHERE len(query_dims) = 3
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
    [4, query_dims[2], query_dims[3], pair_count] AS factors,
    [query_type, key_type] AS formats,
    [
        {'dims': [query_count, query_dims[2], query_dims[3]], 'type': query_type},
        {'dims': [query_count, query_dims[2], query_dims[3]], 'type': query_type},
        {'dims': [key_count, key_heads, query_dims[3]], 'type': key_type},
        {'dims': [key_count, key_heads, query_dims[3]], 'type': key_type}
    ] AS tensors
FROM counted
WHERE query_count <= query_dims[1];
