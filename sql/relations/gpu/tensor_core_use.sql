-- The rule by which a kernel's name shows that the kernel multiplies matrices on tensor cores (on
-- AMD: matrix cores). NULL if no rule matches. The first rule that matches decides.
--
-- Two groups of names match no rule:
--
--   * Names that do not show whether the kernel runs on tensor cores: `matmul_kernel`, `conv1x1`,
--     the names that Triton gives, and names with only an architecture such as sm90. A total of the
--     time on tensor cores is therefore a lower bound.
--   * Names of kernels that do not multiply: kernels that prepare the inputs of a matrix product,
--     or combine its results.
CREATE OR REPLACE MACRO tensor_core_use(name) AS
CASE
    -- Not on tensor cores, although their names contain xmma: kernels with an instruction of CUDA
    -- cores (ffma, ...), and the kernel that adds up the parts of a split product (split k).
    WHEN regexp_matches(name, '^sm\d+_xmma_.*_(ffma|hfma2|dfma|idp4a)_|_execute_split_k_kernel')
    THEN NULL
    WHEN regexp_matches(name, '^sm\d+_xmma_')
    THEN 'cuBLAS and cuDNN, xmma'
    -- From Volta to Ada, the name has the precision and the tile shape: h884, s1688, i8816, s16816,
    -- s161616.
    WHEN regexp_matches(
        name,
        '[a-z](884|1688|8816|8832|16816|16832|16864|161616)(gemm|spgemm|cudnn|fprop|dgrad|wgrad)'
    )
    THEN 'tile shape'
    -- Hopper and Blackwell: nvjet_tst_192x8_64x8_4x1_v_bz_TNT, nvjet_sm100_tst_...
    WHEN regexp_matches(name, '^nvjet_')
    THEN 'cuBLAS, nvjet'
    -- The instruction, in names such as cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_...
    WHEN regexp_matches(name, '(?i)(^|[^a-z])(h|i|d|w|wg|g|qg|u|utc[a-z]*)mma($|[^a-z])|tcgen05')
    THEN 'instruction'
    -- CUTLASS 2: cutlass_80_tensorop_..., or TensorOp in template arguments. The pattern does not
    -- match SubTensorOpWithScalar1d.
    WHEN regexp_matches(name, '_tensorop_|OpClass\w*TensorOp|MmaTensorOp')
    THEN 'CUTLASS, tensor op'
    -- CUTLASS 3: cute::SM80_16x8x16_F32BF16BF16F32_TN, MainloopSm90TmaGmmaWarpSpecialized. The
    -- pattern does not match SM90_TMA_LOAD, which elementwise kernels also use.
    WHEN regexp_matches(
        name, 'SM\d+_\d+x\d+x\d+_|SM\d+_\d*(MMA|UMMA)_|MainloopSm\d+\w*(Gmma|Umma)'
    )
    THEN 'CUTLASS, matrix instruction'
    -- Flash attention 2 and 3. The pattern does not match their kernels combine, dot_do_o and
    -- convert, which do not multiply.
    WHEN regexp_matches(
        name,
        'flash_fwd_(splitkv_)?kernel|flash_bwd_dq_dk_dv_loop|FlashAttn(Fwd|Bwd)Sm\d'
    )
    THEN 'flash attention'
    -- PyTorch's memory-efficient attention. In float32, it uses tensor cores from Ampere on.
    WHEN regexp_matches(
        name, '^fmha_cutlass[FB]_((f16|bf16)_.*_sm[7-9]|f32_.*_sm[89])'
    )
    THEN 'memory-efficient attention'
    -- TensorRT-LLM: fmhaSm100aKernel_..., bmm_Bfloat16_..._t128x16x256u2_..._sm100f.
    WHEN regexp_matches(
        name, '^fmhaSm(9|1\d)\d\w?Kernel|^fmha_v2_|^(bmm|gemm)_\w+_t\d+x\d+x\d+\w*_sm1?\d\d[af]?$'
    )
    THEN 'TensorRT-LLM'
    WHEN regexp_matches(name, 'flashinfer::\w*Prefill\w*Kernel')
    THEN 'FlashInfer'
    WHEN regexp_matches(name, '(^|[ :])Marlin<')
    THEN 'Marlin'
    WHEN regexp_matches(name, 'deep_gemm::\w*gemm_(\w*_)?(impl|kernel)')
    THEN 'DeepGEMM'
    -- AMD's matrix instructions: v_mfma, xdlops and xdl. AMD's wmma matches `instruction` above.
    WHEN regexp_matches(name, '(?i)mfma|xdl')
    THEN 'AMD, matrix instruction'
    -- Kernels of Tensile (rocBLAS, hipBLASLt) name their matrix instruction, as in MI16x16x1.
    -- Kernels without a matrix instruction have no such part in their name.
    WHEN regexp_matches(name, 'Cijk_\w*_MI[1-9]\d*x')
    THEN 'rocBLAS and hipBLASLt'
    -- gtcx stands for xdlops, a matrix instruction. gtcn and gtcm do not match.
    WHEN regexp_matches(name, '^igemm_(fwd|bwd|wrw)_gtcx')
    THEN 'MIOpen'
    WHEN regexp_matches(name, 'ck_tile::Fmha(Fwd|FwdSplitKV|FwdPagedKV|BwdDQDKDV)Kernel')
    THEN 'Composable Kernel attention'
END;

-- Whether a kernel computes float32 as tf32. This is true if the kernel runs on NVIDIA's tensor
-- cores, which do not support float32. AMD's matrix cores support float32.
--
-- `use`: the kernel's tensor_core_use.
CREATE OR REPLACE MACRO takes_float32_as_tf32(use) AS
coalesce(use NOT IN (
    'AMD, matrix instruction', 'rocBLAS and hipBLASLt', 'MIOpen', 'Composable Kernel attention'
), false);
