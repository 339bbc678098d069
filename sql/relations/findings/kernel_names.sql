-- What the names of GPU activities show, for the rules of `findings`.

-- Whether a kernel of this name multiplies float32 matrices off the tensor cores. The names are
-- those of cuBLAS, cuDNN and CUTLASS. Kernels of matrix-vector products (gemv) are left out, since
-- memory bounds them.
CREATE OR REPLACE MACRO is_float32_product(name) AS
CASE
    -- float16 in memory, such as volta_fp16_sgemm_fp16_128x64_nn. The matrices are not float32.
    WHEN regexp_matches(name, 'fp16_s(gemm|cudnn)|h884|s884|_tf32') THEN false
    -- cuBLAS and cuDNN up to Ampere: volta_sgemm_128x64_nt, ampere_scudnn_128x64_relu_...
    WHEN regexp_matches(
        name, '^(cudnn_(\w+_)?)?(maxwell|pascal|volta|turing|ampere)_s(gemm|cudnn)_'
    )
    THEN true
    WHEN regexp_matches(name, 'simt_sgemm') THEN true
    -- xmma kernels with the instruction ffma: sm80_xmma_gemm_f32f32_f32f32_f32_..._ffma_...
    WHEN regexp_matches(name, '^sm\d+_xmma_\w*_f32f32_\w*_ffma_') THEN true
    WHEN regexp_matches(
        name, '(im|ex)plicit_convolve_sgemm|(dgrad|wgrad)\w*_engine<float|winograd\w*<float, float'
    )
    THEN true
    WHEN regexp_matches(name, '^fmha_cutlass[FB]_f32_\w*_sm(50|70|75)') THEN true
    ELSE false
END;

-- What a kernel does that moves elements to other places or types, and does not compute. NULL for
-- other kernels.
--
--     convert  changes the layout of a tensor, often for a library that needs another layout
--     fused    is a copy that torch.compile made
--     copy     copies elements between tensors with different strides or types, for any purpose
CREATE OR REPLACE MACRO layout_change(name) AS
CASE
    -- cuDNN: nchwToNhwcKernel, nhwcToNchwKernel, convertTensor_kernel.
    -- MIOpen: batched_transpose_...
    WHEN regexp_matches(name, '(?i)nchwToNhwc|nhwcToNchw|nchwAddPadding|nhwcAddPadding')
    THEN 'convert'
    WHEN regexp_matches(name, 'cudnn::\S*convertTensor_kernel|^batched_transpose_')
    THEN 'convert'
    WHEN regexp_matches(name, '(?i)^(void )?(\w+::)*(\w+_)?transpose(_\w+|Kernel\w*)?(<|\(|$)')
    THEN 'convert'
    WHEN regexp_matches(name, 'direct_copy_kernel|(bfloat16|float16|float8)_copy_kernel')
    THEN 'copy'
    WHEN regexp_matches(name, '^triton_poi_fused_((_to_copy|clone|transpose|permute|view)_)+\d+$')
    THEN 'fused'
END;

-- Whether a kernel of this name handles many tensors at once, as fused and foreach optimizers do.
CREATE OR REPLACE MACRO handles_many_tensors(name) AS
regexp_matches(name, 'multi_tensor_apply|(?i)fused_?(adam|sgd|lamb|adagrad)');

-- Whether an operator of this name only copies elements to another layout or type.
CREATE OR REPLACE MACRO is_copying_operator(name) AS
(
    name IN (
        'aten::contiguous', 'aten::clone', 'aten::reshape', 'aten::flatten', 'aten::to',
        'aten::_to_copy', 'aten::float', 'aten::half', 'aten::bfloat16', 'aten::type_as'
    )
) IS TRUE;
