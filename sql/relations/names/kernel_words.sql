-- The words for a kernel of a library that encodes in the name what the kernel does: the library,
-- the operation, the data type, the tile and the layout. NULL: another kernel.
--
--     Cijk_Ailk_Bljk_BBS_BH_..._MT128x64x32_...            Tensile gemm bf16 128x64x32 nn
--     ampere_sgemm_32x128_tn                               cuBLAS gemm fp32 32x128 tn
--     sm90_xmma_gemm_bf16bf16_..._tn_n_tilesize64x64x64_   cuBLAS gemm bf16 64x64x64 tn
--     nvjet_tst_144x128_64x6_2x1_v_bz_bias_TNN             nvjet gemm bf16 144x128x64 tnn
--     cutlass_80_tensorop_s1688gemm_128x64_16x6_nn_align4  CUTLASS gemm tf32 128x64x16 nn
--     triton_poi_fused_add_mul_0                           Inductor pointwise: add, mul
--
-- Kernels with equal words differ only in details, such as the stages of their pipeline. The tile
-- of a matrix product is rows x columns of the result, x depth of a step if the name has it. A
-- layout is n or t (transposed) per matrix.

-- The words of a matrix product or convolution, with the codes of its data type between @:
-- `cuBLAS gemm @bf16/s16816@ 64x64 tn`. Up to three codes, of which the first that is not empty
-- counts: the inputs' type, the result's, and BLAS's letter with the tensor cores' instruction.
CREATE OR REPLACE MACRO coded_words(name) AS
CASE
    -- rocBLAS and hipBLASLt. Index l is summed over: A is transposed if l comes first, and B if l
    -- comes last.
    WHEN contains(name, 'Cijk_')
    THEN nullif(
        regexp_replace(
            name,
            '^(?:Custom_)?Cijk_A(?:il|li)k_B(?:lj|jl)k_(I8|F8N?|B8N?|4xi8|[HBSDCZ])\w*?'
                || '_MT(\d+x\d+x\d+).*$',
            'Tensile gemm @\1@ \2'
        ),
        name
    ) || CASE WHEN contains(name, '_Ailk_') THEN ' n' ELSE ' t' END
        || CASE WHEN contains(name, '_Bljk_') THEN 'n' ELSE 't' END
    -- cuBLAS from Hopper on. The first letter is the type of the inputs.
    WHEN starts_with(name, 'nvjet_')
    THEN lower(nullif(
        regexp_replace(
            name,
            '^nvjet_(?:sm\d+_)?([a-z])[a-z]{2}_(\d+x\d+)_(\d+)x\d+_\w*_([NT]{3})$',
            'nvjet gemm @\1@ \2x\3 \4'
        ),
        name
    ))
    -- CUTLASS 2, also as an argument of cutlass::Kernel.
    WHEN contains(name, 'cutlass_')
    THEN nullif(
        regexp_replace(
            name,
            '^.*?cutlass_(?:\d+_)?(?:wmma_)?(?:tensorop|simt)_(?:([a-z]+\d+)_)?([a-z]\d*)'
                || '(gemm|fprop|dgrad|wgrad)_(?:[a-z]+_)?(?:([a-z]+\d+)_)?'
                || '(\d+x\d+)_(\d+)x\d+_(nn|nt|tn|tt|nhwc|nchw)_.*$',
            'CUTLASS \3 @\1/\4/\2@ \5x\6 \7'
        ),
        name
    )
    -- The kernels of cuBLAS and cuDNN that share the name xmma.
    WHEN contains(name, '_xmma_gemm_')
    THEN nullif(
        regexp_replace(
            name,
            '^sm\d+_xmma_gemm_(bf16|tf32|f32|f16|f64|i8|e4m3|e5m2)\w*?_([nt][nt])_[nt]'
                || '_tilesize(\d+x\d+x\d+).*$',
            'cuBLAS gemm @\1@ \3 \2'
        ),
        name
    )
    WHEN contains(name, '_xmma_')
    THEN nullif(
        regexp_replace(
            name,
            '^sm\d+_xmma_(fprop|dgrad|wgrad)_(?:implicit_gemm_)?(?:indexed_)?'
                || '(bf16|tf32|f32|f16|f64|i8|e4m3|e5m2)\w*?_tilesize(\d+x\d+x\d+).*$',
            'cuDNN \1 @\2@ \3'
        ),
        name
    )
    -- cuBLAS up to Ampere.
    WHEN contains(name, 'gemm_')
    THEN nullif(
        regexp_replace(
            name,
            '^(?:maxwell|volta|turing|ampere|hopper)_(?:([a-z]+\d+)_)?((?:gc|[shdcz])\d*)gemm_'
                || '(?:[a-z]+\d+_)?(\d+x\d+)(?:_\w+?)?_([nt][nt])(?:_.*)?$',
            'cuBLAS gemm @\1/\2@ \3 \4'
        ),
        name
    )
END;

-- The text of coded_words with the name of the data type instead of the codes. The instruction
-- s1688 computes float32 as tf32. A code that is not in the list is a name already.
CREATE OR REPLACE MACRO decoded_words(coded) AS
regexp_replace(
    coded,
    '@.*@',
    coalesce(
        map {
            'b': 'bf16', 't': 'bf16', 'h': 'fp16', 'f16': 'fp16', 'h884': 'fp16', 'h1688': 'fp16',
            'h16816': 'fp16', 's884': 'fp16', 's16816': 'fp16', 's161616': 'fp16', 's1688': 'tf32',
            's': 'fp32', 'f32': 'fp32', 'd': 'fp64', 'f64': 'fp64', 'd884': 'fp64', 'f8': 'fp8',
            'f8n': 'fp8', 'b8': 'fp8', 'b8n': 'fp8', 'q': 'fp8', 'e4m3': 'fp8', 'e5m2': 'fp8',
            'i8': 'int8', '4xi8': 'int8', 's8': 'int8', 'c': 'complex64', 'gc': 'complex64',
            'c1688': 'complex64', 'cf32': 'complex64', 'z': 'complex128', 'z884': 'complex128'
        }[lower(regexp_extract(coded, '@/*(\w+)', 1))],
        lower(regexp_extract(coded, '@/*(\w+)', 1))
    )
);

-- The words for one of PyTorch Inductor's Triton kernels. `_` joins the names of the operators that
-- it fuses. The pattern lists names of operators that themselves contain `_`.
CREATE OR REPLACE MACRO inductor_words(name) AS
'Inductor ' || map {
    'poi': 'pointwise', 'red': 'reduction', 'per': 'persistent reduction', 'tem': 'template',
    'for': 'foreach', 'spl': 'split scan'
}[substr(name, 8, 3)] || ': ' || nullif(
    array_to_string(
        regexp_extract_all(
            regexp_extract(name, '^triton_\w\w\w_fused_(\w*?[a-z]\w*?)(?:_\d+)?$', 1),
            '(?:^|_)('
                || '_to_copy|_unsafe_view|_unsafe_index(?:_put)?|_adaptive_avg_pool2d'
                || '|_(?:log_)?softmax(?:_backward_data)?|_native_batch_norm_legit'
                || '|_scaled_dot_product_[a-z_]*?attention(?:_backward)?|constant_pad_nd|rms_norm'
                || '|(?:native_)?(?:layer|batch|group)_norm(?:_backward)?|threshold_backward'
                || '|native_dropout(?:_backward)?|embedding_(?:dense_backward|bag)|mse_loss'
                || '|(?:bitwise|logical)_(?:and|or|not|xor)|bitwise_(?:left|right)_shift'
                || '|(?:index|masked)_(?:put|select|fill|scatter|add)|leaky_relu'
                || '|(?:gelu|silu|tanh|sigmoid|hardtanh|convolution|nll_loss)_backward'
                || '|(?:slice|select)_(?:backward|scatter)|scatter_(?:add|reduce)'
                || '|new_(?:zeros|ones|full|empty)|(?:zeros|ones|full|empty|rand|randn)_like'
                || '|max_pool2d_with_indices(?:_backward)?|avg_pool2d(?:_backward)?'
                || '|upsample_(?:nearest|bilinear|bicubic)\d?d|clamp_(?:min|max)'
                || '|convert_element_type|split_with_sizes|nll_loss_forward|moe_forward|var_mean'
                || '|_*[a-z0-9]+)',
            1
        ),
        ', '
    ),
    ''
);

-- In a lambda, DuckDB plans coded_words once. Without it, DuckDB plans it three times.
CREATE OR REPLACE MACRO kernel_words(name) AS
CASE
    WHEN starts_with(name, 'triton_') THEN inductor_words(name)
    ELSE list_transform([coded_words(name)], lambda coded: decoded_words(coded))[1]
END;
