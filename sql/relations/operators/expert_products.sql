-- Mixtures of experts and grouped matrix products: the operators and their costs.
--
-- reads: argument_sizes, argument_texts, type_bytes

-- One row per operator and number of arguments (argument_counts, NULL: any): the places of its
-- arguments, counted from 1, or from the last if below 0. NULL: no such argument.
--
--     tokens_at   tokens: (tokens, size); of a second stage (tokens, chosen experts, size)
--     first_at    weights of the first layer: (experts, rows, size), if the call computes it
--     second_at   weights of the second layer: (experts, size of the result, inner size)
--     chosen_at   tensor whose second size is the number of chosen experts per token
--     chosen_text number of chosen experts
--     result      what is written: tokens (the sizes of tokens_at), or the place of an argument
--     in_tiles    whether the weights lie in tiles of 16 x 16, as Marlin reads them: (experts,
--                 size / 16, 16 times the rows, packed)
--     rows_text   number of rows of the first layer, of weights in tiles
--
-- shared: session
CREATE OR REPLACE MACRO expert_operators() AS TABLE
SELECT
    unnest(names) AS name, NULL::INTEGER[] AS argument_counts, tokens_at, first_at, second_at,
    chosen_at, chosen_text, result, false AS in_tiles, NULL::INTEGER AS rows_text
FROM (
    VALUES
        (['vllm::outplace_fused_experts', 'vllm::inplace_fused_experts',
          'sglang::outplace_fused_experts', 'sglang::inplace_fused_experts',
          'vllm::rocm_aiter_fused_moe', 'vllm::rocm_aiter_asm_moe_tkw1', 'aiter::fused_moe_'],
         1, 2, 3, 5, NULL, 1),
        (['vllm::flashinfer_fused_moe_blockscale_fp8'], 3, 4, 6, NULL, 9, 3),
        (['aiter::ck_moe_stage1'], 1, 2, NULL, 7, NULL, 7),
        (['aiter::ck_moe_stage2'], 1, NULL, 3, 1, NULL, 7),
        (['aiter::moe_cktile2stages_gemm1_ck'], 1, 2, NULL, 3, NULL, 3),
        (['aiter::moe_cktile2stages_gemm2_ck'], 1, NULL, 2, 1, NULL, 3),
        (['aiter::fmoe', 'aiter::fmoe_g1u1', 'aiter::fmoe_g1u1_tkw1', 'aiter::fmoe_int8_g1u0',
          'aiter::fmoe_fp8_blockscale_g1u1'],
         2, 3, 4, NULL, 9, 1),
        -- The weights are not arguments. Operators inside show them.
        (['vllm::moe_forward', 'vllm::moe_forward_shared'], 1, NULL, NULL, NULL, NULL, 1)
) AS operators (names, tokens_at, first_at, second_at, chosen_at, chosen_text, result)
UNION ALL
SELECT
    unnest(names) AS name, argument_counts, tokens_at, first_at, second_at, chosen_at, chosen_text,
    result, true AS in_tiles, rows_text
FROM (
    VALUES
        (['vllm::fused_marlin_moe'], NULL, 1, 2, 3, 8, NULL, 1, NULL),
        (['_moe_C::moe_wna16_marlin_gemm', 'sgl_kernel::moe_wna16_marlin_gemm'],
         [24, 25, 26], 1, 3, NULL, NULL, -11, 2, -6),
        (['_moe_C::moe_wna16_marlin_gemm', 'sgl_kernel::moe_wna16_marlin_gemm',
          'gptqmodel_marlin_moe::moe_wna16_marlin_gemm'],
         [29], 1, 3, NULL, NULL, -13, 2, -9)
) AS operators (
    names, argument_counts, tokens_at, first_at, second_at, chosen_at, chosen_text, result,
    rows_text
);

-- One row per shape of a mixture of experts: the factors whose product is the number of operations,
-- and the tensors that move.
--
-- `shapes`: rows of numbered_shapes. A shape is an operator's name with the sizes (dims), types and
--   values (texts) of its arguments, and its context: the shapes of operators inside the call.
--
-- Operations: 2 times the weights of an expert, per token and chosen expert. An expert has a matrix
-- of `rows` x `size` and one of `size` x `inner size`. If the first layer is gated, rows is twice
-- the inner size. An element can hold several numbers along the second dimension of a matrix; then
-- the tokens have more elements than the matrix has columns.
--
-- Bytes: tokens, result, and the weights of all experts, or of as many experts as were chosen if
-- these are fewer. Some of the choices may be for the same expert, so it is an upper bound. Scales
-- are left out.
--
-- vllm::moe_forward does not have the weights as arguments. But operators inside it show tensors of
-- three dimensions, of which the first is the number of experts, which is the second size of the
-- router's result. If there are two of them, they are the weights. The number of chosen experts is
-- the smallest second size of a tensor with a row per token. All of it is an estimate. If nothing
-- shows the weights, only the bytes of tokens, result and router count.
--
-- Sources: signatures of the operators that vLLM, SGLang and aiter register, such as those in
-- csrc/moe/torch_bindings and fused_marlin_moe.py of vLLM.
CREATE OR REPLACE MACRO expert_products(shapes) AS TABLE
WITH
arguments AS (
    SELECT
        s.shape_number,
        s.context,
        s.dims[o.tokens_at] AS token_dims,
        s.types[o.tokens_at] AS token_type,
        s.dims[2] AS router_dims,
        s.types[2] AS router_type,
        s.dims[o.first_at] AS first_dims,
        s.dims[o.second_at] AS second_dims,
        coalesce(s.types[o.first_at], s.types[o.second_at]) AS weight_type,
        -- Newer versions of fused_marlin_moe have two more arguments before the chosen experts.
        CASE
            WHEN s.name = 'vllm::fused_marlin_moe'
                AND coalesce(s.types[8], '') NOT IN ('int', 'long int', 'long')
            THEN s.dims[10][2]
            ELSE coalesce(s.dims[o.chosen_at][2], TRY_CAST(s.texts[o.chosen_text] AS BIGINT))
        END AS chosen,
        o.in_tiles,
        TRY_CAST(s.texts[o.rows_text] AS BIGINT) AS tile_rows,
        -- The caller of a product with weights in tiles need not allocate the result.
        CASE
            WHEN o.rows_text IS NULL THEN s.dims[o.result] ELSE [token_dims[1] * chosen, tile_rows]
        END AS result_dims,
        CASE
            WHEN o.rows_text IS NULL OR s.types[o.result] NOT IN ('', 'None') THEN s.types[o.result]
            WHEN type_bytes(token_type) > 1 THEN token_type
        END AS result_type,
        o.first_at IS NOT NULL AS has_first,
        o.second_at IS NOT NULL AS has_second
    FROM query_table(shapes) AS s
    JOIN expert_operators() AS o
        ON o.name = s.name
        AND coalesce(list_contains(o.argument_counts, len(s.dims)), true)
),
known AS (
    SELECT
        * EXCLUDE (context, router_dims, router_type),
        false AS is_estimated,
        -- Numbers per element of the weights.
        CASE
            WHEN in_tiles AND has_second THEN 16 * token_dims[-1] // nullif(second_dims[3], 0)
            WHEN in_tiles THEN 16 * tile_rows // nullif(first_dims[3], 0)
            WHEN has_first AND len(first_dims) = 3 THEN token_dims[-1] // nullif(first_dims[3], 0)
            WHEN len(second_dims) = 3 THEN token_dims[-1] // nullif(second_dims[3], 0)
        END AS packed
    FROM arguments
    WHERE has_first OR has_second
),
fitting AS (
    SELECT
        *,
        coalesce(first_dims[1], second_dims[1]) AS experts,
        CASE WHEN has_first THEN first_dims[2] * first_dims[3] ELSE 0 END
            + CASE WHEN has_second THEN second_dims[2] * second_dims[3] ELSE 0 END AS elements
    FROM known
    WHERE CASE
        WHEN in_tiles
        THEN packed IN (4, 8) AND token_dims[-1] = 16 * first_dims[2]
        ELSE packed IN (1, 2, 8)
            AND token_dims[-1] = packed * CASE
                WHEN has_first THEN first_dims[3] ELSE second_dims[3]
            END
            AND (NOT has_first OR NOT has_second OR second_dims[2] = token_dims[-1])
    END
),
-- vllm::moe_forward: the tensors inside.
seen_inside AS (
    SELECT
        * EXCLUDE (context),
        list_transform(
            string_split(coalesce(context, ''), chr(10)),
            lambda line: {
                'dims': argument_sizes(string_split(line, chr(9))[1])[1],
                'type': argument_texts(string_split(line, chr(9))[2])[1]
            }
        ) AS seen
    FROM arguments
    WHERE NOT has_first AND NOT has_second
),
weights_inside AS (
    SELECT
        *,
        list_distinct(list_filter(
            seen, lambda t: len(t.dims) = 3 AND t.dims[1] = router_dims[2] AND t.dims[2] > 1
        )) AS weights,
        list_min(list_transform(
            list_filter(seen, lambda t: len(t.dims) = 2 AND t.dims[1] = token_dims[1]),
            lambda t: t.dims[2]
        )) AS chosen_inside
    FROM seen_inside
),
guessed AS (
    SELECT
        *,
        CASE
            WHEN len(weights) = 2 AND chosen_inside < router_dims[2]
            THEN weights[1].dims[2] * weights[1].dims[3] + weights[2].dims[2] * weights[2].dims[3]
        END AS elements,
        -- Numbers per element: one of the weights has the size of a token, packed or not.
        list_max(list_transform(
            list_concat(weights[1].dims[2:3], weights[2].dims[2:3]),
            lambda size: CASE
                WHEN token_dims[2] = 2 * size AND type_bytes(weights[1].type) = 1 THEN 2
                WHEN token_dims[2] = size THEN 1
            END
        )) AS packed
    FROM weights_inside
)
SELECT
    shape_number,
    'mixture of experts' AS family,
    is_estimated,
    [2, token_dims[1], chosen, packed, elements] AS factors,
    CASE
        WHEN packed = 2 OR in_tiles THEN [token_type]
        ELSE [token_type, weight_type]
    END AS formats,
    [
        {'dims': token_dims, 'type': token_type},
        {'dims': result_dims, 'type': result_type},
        {'dims': [least(experts, token_dims[1] * chosen), elements], 'type': weight_type}
    ] AS tensors
FROM fitting
UNION ALL
SELECT
    shape_number,
    'mixture of experts' AS family,
    true AS is_estimated,
    CASE
        WHEN elements IS NOT NULL AND packed IS NOT NULL
        THEN [2, token_dims[1], chosen_inside, packed, elements]
    END AS factors,
    [token_type] AS formats,
    [
        {'dims': token_dims, 'type': token_type},
        {'dims': token_dims, 'type': token_type},
        {'dims': router_dims, 'type': router_type},
        CASE
            WHEN elements IS NOT NULL AND packed IS NOT NULL
            THEN {
                'dims': [least(router_dims[2], token_dims[1] * chosen_inside), elements],
                'type': weights[1].type
            }
            ELSE {'dims': []::BIGINT[], 'type': ''}
        END
    ] AS tensors
FROM guessed
WHERE len(token_dims) = 2 AND len(router_dims) = 2;
