-- The load of a step of inference: what a server's annotation says about the step's batch.
--
-- These names are known. c and g stand for sequences in prefill (context) and decode (generation):
--
--     vLLM          execute_6147_context_2(sq6144sk7144sqsq20971520sqsk23019520)
--                       _generation_3(sq3sk6144sqsq3sqsk6144)
--                   execute_context_2(6144)_generation_3(3)
--                   execute_new_2_cached_30
--     SGLang        step[EXTEND bs=2 toks=12 c_sqsq=80 c_sqsk=120 c_sk=20]
--                   step[DECODE bs=32]
--                   step[MIXED bs=2 c=1 g=1 c_sq=5 c_sk=8 c_sqsq=25 c_sqsk=40 g_sq=1 g_sk=12 ...]
--     ATOM          prefill[bs=2 tok=14721 ctx=[7803, 6918] sqsq=... sqsk=... sk=...]
--                   decode[bs=117/128 tok=117 d=117]
--     TensorRT-LLM  [Executor] _forward_step 7: 2 ctx reqs, 512 ctx tokens, 30 gen reqs
--     xDiT          execute_diffusion_1_256x256

-- The name in one notation: a word that says what runs, then numbers such as `c_sq=5`. NULL for
-- other names.
CREATE OR REPLACE MACRO load_notation(name) AS
CASE
    WHEN prefix(name, 'step[')
    THEN substring(name, 6)
    WHEN prefix(name, 'execute_diffusion_')
    THEN regexp_replace(name, '^execute_diffusion_(\d+)_\d+x\d+$', 'diffusion bs=\1')
    WHEN prefix(name, 'execute_new_')
    THEN regexp_replace(name, '^execute_new_(\d+)_cached_(\d+)$', 'new c=\1 cached=\2')
    WHEN prefix(name, 'execute_')
    THEN regexp_replace(
        regexp_replace(
            name,
            '^execute_(?:\d+_)?context_(\d+)'
            || '\((?:sq)?(\d+)(?:sk(\d+)sqsq(\d+)sqsk(\d+))?(?:_\d+)?\)_',
            'execute c=\1 c_sq=\2 c_sk=\3 c_sqsq=\4 c_sqsk=\5 '
        ),
        'generation_(\d+)\((?:sq)?(\d+)(?:sk(\d+)sqsq(\d+)sqsk(\d+))?(?:_\d+)?\)$',
        'g=\1 g_sq=\2 g_sk=\3 g_sqsq=\4 g_sqsk=\5'
    )
    WHEN prefix(name, 'mixed[bs=')
    THEN 'MIXED ' || substring(name, 7)
    WHEN prefix(name, 'prefill[bs=') OR prefix(name, 'eager_prefill[bs=')
    THEN regexp_replace(replace(name, ' tok=', ' sq='), '\b(sq|sk|sqsq|sqsk)=', 'c_\1=', 'g')
    WHEN prefix(name, 'decode[bs=') OR prefix(name, 'eager_decode[bs=')
    THEN regexp_replace(replace(name, ' tok=', ' sq='), '\b(sq|sk|sqsq|sqsk)=', 'g_\1=', 'g')
    WHEN prefix(name, '[Executor] _forward_step ')
    THEN concat(
        'execute c=', regexp_extract(name, '(\d+) ctx reqs', 1),
        ' c_sq=', regexp_extract(name, '(\d+) ctx tokens', 1),
        ' g=', regexp_extract(name, '(\d+) gen reqs', 1)
    )
END;

-- The number after a key in this notation. NULL: not there.
CREATE OR REPLACE MACRO load_number(notation, key) AS
TRY_CAST(regexp_extract(notation, '\b' || key || '=(\d+)', 1) AS BIGINT);

-- The load that an annotation's name shows, as a struct. A field is NULL if the name does not show
-- it. The struct is NULL if the name shows nothing.
--
--     phase        prefill, decode, mixed or diffusion
--     batch_size   sequences of the step
--     token_count  new tokens of all sequences
--
-- and for prefill_ and decode_, sums over the sequences in this phase:
--
--     sequences      their number
--     query_tokens   q: new tokens
--     key_tokens     k: tokens of the context, the new ones included
--     square_tokens  q²
--     pair_tokens    q k: pairs of a new token and a token of its context. With a causal mask,
--                    q k - (q² - q) / 2 of these pairs remain
--
-- In vLLM's execute_new_N_cached_M, the M sequences were also in an earlier step. They count as
-- decode in `phase`, although a long prefill can take several steps. Their number in decode is
-- not known.
CREATE OR REPLACE MACRO annotated_load(name) AS
list_transform(
    [load_notation(name)],
    lambda said: list_transform(
        [{
            'is_prefill': regexp_matches(said, '^(EXTEND|SPLIT_PREFILL|prefill|eager_prefill)\b'),
            'is_decode': regexp_matches(said, '^(DECODE|TARGET_VERIFY|decode|eager_decode)\b'),
            'is_single': regexp_matches(said, '^DECODE\b'),
            'is_diffusion': prefix(said, 'diffusion bs='),
            'bs': load_number(said, 'bs'),
            'tokens': load_number(said, 'toks'),
            'cached': load_number(said, 'cached'),
            'c': load_number(said, 'c'),
            'c_sq': load_number(said, 'c_sq'),
            'c_sk': load_number(said, 'c_sk'),
            'c_sqsq': load_number(said, 'c_sqsq'),
            'c_sqsk': load_number(said, 'c_sqsk'),
            'g': load_number(said, 'g'),
            'g_sq': load_number(said, 'g_sq'),
            'g_sk': load_number(said, 'g_sk'),
            'g_sqsq': load_number(said, 'g_sqsq'),
            'g_sqsk': load_number(said, 'g_sqsk')
        }],
        lambda n: CASE
            WHEN coalesce(n.bs, n.c, n.g) IS NOT NULL
            THEN {
                'phase': CASE
                    WHEN n.is_diffusion THEN 'diffusion'
                    WHEN n.is_prefill OR n.c > 0 AND coalesce(n.g, n.cached) = 0 THEN 'prefill'
                    WHEN n.is_decode OR n.c = 0 AND coalesce(n.g, n.cached) > 0 THEN 'decode'
                    WHEN n.c > 0 AND coalesce(n.g, n.cached) > 0 OR prefix(said, 'MIXED')
                    THEN 'mixed'
                END,
                'batch_size': coalesce(n.bs, n.c + coalesce(n.g, n.cached)),
                'token_count': CASE
                    WHEN n.is_prefill THEN coalesce(n.c_sq, n.tokens)
                    WHEN n.is_single THEN coalesce(n.g_sq, n.bs)
                    WHEN n.is_decode THEN n.g_sq
                    ELSE n.c_sq + n.g_sq
                END,
                'prefill_sequences': CASE
                    WHEN n.is_prefill THEN n.bs WHEN n.is_decode THEN 0 ELSE n.c
                END,
                'prefill_query_tokens': CASE
                    WHEN n.is_decode THEN 0 ELSE coalesce(n.c_sq, n.tokens)
                END,
                'prefill_key_tokens': CASE WHEN n.is_decode THEN 0 ELSE n.c_sk END,
                'prefill_square_tokens': CASE WHEN n.is_decode THEN 0 ELSE n.c_sqsq END,
                'prefill_pair_tokens': CASE WHEN n.is_decode THEN 0 ELSE n.c_sqsk END,
                'decode_sequences': CASE
                    WHEN n.is_prefill THEN 0 WHEN n.is_decode THEN n.bs ELSE n.g
                END,
                'decode_query_tokens': CASE
                    WHEN n.is_prefill THEN 0
                    WHEN n.is_single THEN coalesce(n.g_sq, n.bs)
                    ELSE n.g_sq
                END,
                'decode_key_tokens': CASE WHEN n.is_prefill THEN 0 ELSE n.g_sk END,
                'decode_square_tokens': CASE WHEN n.is_prefill THEN 0 ELSE n.g_sqsq END,
                'decode_pair_tokens': CASE WHEN n.is_prefill THEN 0 ELSE n.g_sqsk END
            }
        END
    )[1]
)[1];
