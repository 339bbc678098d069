-- Operators whose bytes follow from their list of arguments: indexing, pooling, resampling, losses,
-- and operators that inference servers register.

-- One row per operator and number of arguments (NULL: any).
--
-- `moved` lists the tensors that move. N and M are places of arguments, counted from 1:
--
--     *      every argument that is a tensor
--     N      argument N
--     N:M    the sizes of argument N, the type of argument M
--     N:t    the sizes of argument N, the type t; b8: a type of 8 bits
--     N@M    one row of argument N for each element of argument M. The rows lie along the dimension
--            in argument dim_at, or along the first
--     N$M    the sizes of argument N, with the number in argument M along the dimension in dim_at
--     N%M    the sizes of argument N, but the last sizes are those in argument M
--     N=M    the sizes in argument M, the type of argument N
--     N#M    the number in argument M, then the last size of argument N
--     N+M    the sizes of argument N with the padding in argument M
--     N!     the sizes of argument N: at least these elements, since they can repeat. NULL if it
--            has no dimensions. The bytes are an estimate
--     N^     the numbers that arange counts, by the arguments before N, of argument N's type
--     N~M    the result of pooling argument N. Kernel, stride and padding are arguments 2, 3 and 4.
--            The dilation is argument 5 if M is 5. Whether sizes round up is the next argument
--
-- An argument that is read and written is listed twice. A result that is not an argument is listed
-- by the argument that has its sizes.
--
-- shared: session
CREATE OR REPLACE MACRO moving_operators() AS TABLE
WITH
of_pytorch (family, names, argument_count, dim_at, moved) AS (
    VALUES
        ('indexing', ['embedding'], 5, NULL, '1@2 2 1@2'),
        ('indexing', ['embedding_dense_backward'], 5, NULL, '1 2 1#3'),
        ('indexing', ['index_select'], NULL, 2, '1@3 3 1@3'),
        ('indexing', ['gather'], NULL, NULL, '3:1 3 3:1'),
        ('indexing', ['take'], 2, NULL, '2:1 2 2:1'),
        ('indexing', ['scatter', 'scatter_add'], 4, NULL, '1 1 3 4'),
        ('indexing', ['scatter_'], 4, NULL, '3 4 3:1'),
        ('indexing', ['scatter_add_', 'scatter_reduce_'], NULL, NULL, '3 4 3:1 3:1'),
        ('indexing', ['index_add_'], 5, NULL, '3 4 4:1 4:1'),
        ('indexing', ['index_copy_'], 4, NULL, '3 4 4:1'),
        ('indexing', ['index_fill_'], 4, 2, '3 1@3'),
        ('indexing', ['index_put_'], 4, NULL, '3! 3!:1'),
        ('indexing', ['_index_put_impl_'], 5, NULL, '3! 3!:1'),
        ('elementwise', ['arange'], 2, NULL, '2^'),
        ('elementwise', ['arange'], 4, NULL, '4^'),
        ('elementwise', ['roll'], 3, NULL, '1 1'),
        ('elementwise', ['flip', 'tril', 'triu', 'tril_', 'triu_', 'logcumsumexp'], 2, NULL,
         '1 1'),
        ('elementwise', ['native_dropout'], 3, NULL, '1 1 1:bool'),
        ('elementwise', ['native_dropout_backward'], 3, NULL, '1 2 1'),
        ('elementwise', ['uniform_', 'normal_', 'bernoulli_', 'exponential_', 'random_'], NULL,
         NULL, '1'),
        ('elementwise', ['_local_scalar_dense'], 1, NULL, '1'),
        ('sorting', ['sort'], 3, NULL, '1 1 1:long'),
        ('sorting', ['sort'], 4, NULL, '1 1 1:long'),
        ('sorting', ['cummax', 'cummin'], 2, NULL, '1 1 1:long'),
        ('sorting', ['topk'], 5, 3, '1 1$2 1$2:long'),
        ('loss', ['nll_loss_forward', 'nll_loss2d_forward'], 5, NULL, '2 2:1'),
        ('loss', ['nll_loss_backward', 'nll_loss2d_backward'], 7, NULL, '3 2'),
        ('loss', ['mse_loss', 'smooth_l1_loss', 'huber_loss'], NULL, NULL, '1 2'),
        ('loss', ['binary_cross_entropy'], 4, NULL, '1 2 3'),
        ('loss', ['mse_loss_backward', 'smooth_l1_loss_backward', 'huber_loss_backward'], NULL,
         NULL, '1 2 3 2'),
        ('resampling', ['upsample_nearest1d', 'upsample_nearest2d', 'upsample_nearest3d',
                        '_upsample_nearest_exact1d', '_upsample_nearest_exact2d',
                        '_upsample_nearest_exact3d', 'upsample_linear1d', 'upsample_bilinear2d',
                        'upsample_bicubic2d', 'upsample_trilinear3d', '_upsample_bilinear2d_aa',
                        '_upsample_bicubic2d_aa'],
         NULL, NULL, '1 1%2'),
        ('resampling', ['upsample_nearest1d_backward', 'upsample_nearest2d_backward',
                        'upsample_nearest3d_backward', 'upsample_linear1d_backward',
                        'upsample_bilinear2d_backward', 'upsample_bicubic2d_backward',
                        'upsample_trilinear3d_backward'],
         NULL, NULL, '1 1=3'),
        ('resampling', ['reflection_pad1d', 'reflection_pad2d', 'reflection_pad3d',
                        'replication_pad1d', 'replication_pad2d', 'replication_pad3d'],
         2, NULL, '1 1+2'),
        ('resampling', ['reflection_pad1d_backward', 'reflection_pad2d_backward',
                        'reflection_pad3d_backward', 'replication_pad1d_backward',
                        'replication_pad2d_backward', 'replication_pad3d_backward'],
         3, NULL, '1 2'),
        ('pooling', ['_adaptive_avg_pool2d', '_adaptive_avg_pool3d'], 2, NULL, '1 1%2'),
        ('pooling', ['adaptive_max_pool2d', 'adaptive_max_pool3d'], 2, NULL, '1 1%2 1%2:long'),
        ('pooling', ['_adaptive_avg_pool2d_backward', '_adaptive_avg_pool3d_backward'], 2, NULL,
         '1 2'),
        ('pooling', ['max_pool2d_with_indices', 'max_pool3d_with_indices'], 6, NULL,
         '1 1~5 1~5:long'),
        ('pooling', ['max_pool2d_with_indices_backward', 'max_pool3d_with_indices_backward'], 8,
         NULL, '1 8 2'),
        ('pooling', ['avg_pool2d', 'avg_pool3d'], 7, NULL, '1 1~4'),
        ('pooling', ['avg_pool2d_backward', 'avg_pool3d_backward'], 8, NULL, '1 2')
),
of_servers (family, namespaces, names, moved) AS (
    VALUES
        ('normalization', ['_C', 'sgl_kernel'],
         ['rms_norm', 'rmsnorm', 'gemma_rmsnorm', 'rms_norm_static_fp8_quant'], '*'),
        ('normalization', ['aiter'],
         ['rmsnorm', 'add_rmsnorm', 'rmsnorm_quant', 'add_rmsnorm_quant', 'rms_norm_cu',
          'rmsnorm2d_fwd_with_add', 'rmsnorm2d_fwd_with_add_ck',
          'rmsnorm2d_fwd_with_smoothquant', 'rmsnorm2d_fwd_with_smoothquant_ck',
          'rmsnorm2d_fwd_with_dynamicquant', 'rmsnorm2d_fwd_with_dynamicquant_ck',
          'rmsnorm2d_fwd_with_add_smoothquant', 'rmsnorm2d_fwd_with_add_smoothquant_ck',
          'rmsnorm2d_fwd_with_add_dynamicquant', 'rmsnorm2d_fwd_with_add_dynamicquant_ck',
          'layernorm2d_fwd_with_add', 'layernorm2d_fwd_with_add_ck'],
         '*'),
        ('normalization', ['aiter'],
         ['rms_norm', 'rmsnorm2d_fwd', 'rmsnorm2d_fwd_ck', 'layernorm2d_fwd'], '* 1'),
        ('normalization', ['vllm'], ['rocm_aiter_rms_norm'], '* 1'),
        ('normalization', ['vllm'], ['rocm_aiter_rmsnorm2d_fwd_with_add'], '* 1 2'),
        ('normalization', ['_C', 'sgl_kernel', 'aiter', 'flashinfer'],
         ['fused_add_rms_norm', 'fused_add_rmsnorm', 'gemma_fused_add_rmsnorm',
          'fused_add_rms_norm_cu'],
         '* 1 2'),
        ('normalization', ['_C'], ['fused_add_rms_norm_static_fp8_quant'], '* 3'),
        ('normalization', ['_C'], ['rms_norm_dynamic_per_token_quant', 'rms_norm_per_block_quant'],
         '* 7'),
        ('normalization', ['_C'], ['fused_qk_norm_rope'], '1 1 7 8 11 9@11'),
        ('normalization', ['vllm'], ['rocm_aiter_rmsnorm_fp8_group_quant'], '1 2 1:b8'),
        ('normalization', ['vllm'], ['rocm_aiter_rmsnorm_with_add_fp8_group_quant'],
         '1 2 3 1:b8 2'),
        -- The result is padded: at least the tokens' sizes.
        ('normalization', ['vllm'], ['rocm_aiter_triton_add_rmsnorm_pad'], '1 2 4 4 1!'),
        ('convolution', ['DaoAILab'], ['_causal_conv1d_fwd_cpp', '_causal_conv1d_bwd_cpp'], '*'),
        ('activation', ['_C', 'sgl_kernel', 'aiter'],
         ['silu_and_mul', 'mul_and_silu', 'gelu_and_mul', 'gelu_tanh_and_mul', 'fatrelu_and_mul',
          'swigluoai_and_mul', 'gelu_quick', 'gelu_new', 'gelu_fast', 'silu_and_mul_quant',
          'scaled_silu_and_mul', 'silu_and_mul_per_block_quant',
          'persistent_masked_m_silu_mul_quant'],
         '*'),
        ('elementwise', ['_C', 'sgl_kernel'],
         ['merge_attn_states', 'merge_state', 'merge_state_v2'], '*'),
        -- Queries, keys and values in one tensor, gates and result. The states are not arguments.
        ('linear attention', ['vllm', 'aiter'],
         ['gdn_attention_core', 'qwen_gdn_attention_core', 'linear_attention_with_output_base'],
         '1! 2 3 4'),
        ('rotary embedding', ['_C', 'sgl_kernel'], ['rotary_embedding'], '1 2 2 3 3 5@1'),
        ('rotary embedding', ['sgl_kernel'], ['apply_rope_pos_ids_cos_sin_cache'],
         '1 2 3 4 5@6 6'),
        ('rotary embedding', ['aiter'], ['rope_cached_positions_2c_fwd_impl'],
         '1 2 3 4 5@7 6@7 7'),
        ('cache', ['_C_cache_ops', 'aiter', 'sglang'],
         ['reshape_and_cache', 'reshape_and_cache_flash', 'store_cache'], '1 2 5 1:3 2:4'),
        ('cache', ['vllm'], ['unified_kv_cache_update'], '1 2 1 2'),
        ('cache', ['_C_cache_ops'], ['concat_and_cache_mla'], '1 2 4 1:3 2:3'),
        ('cache', ['_C_cache_ops'], ['concat_and_cache_mla_rope_fused'],
         '1 2 2 3 3 4 5@1 7 3:8 4:8'),
        ('cache', ['aiter'], ['fused_qk_rope_concat_and_cache_mla'],
         '1 2 3 4 3:5 4:5 6 7 10 11@10 12@10'),
        ('cache', ['_C_cache_ops'], ['indexer_k_quant_and_cache'], '1 3 1:2'),
        ('cache', ['_C_cache_ops'], ['concat_mla_q'], '*'),
        ('routing', ['_moe_C', 'sgl_kernel', 'aiter'],
         ['topk_softmax', 'topk_softmax_asm', 'topk_sigmoid', 'grouped_topk',
          'biased_grouped_topk', 'biased_grouped_topk_hip', 'moe_align_block_size', 'moe_sum',
          'moe_sum_reduce', 'sgl_moe_align_block_size', 'moe_permute', 'moe_unpermute',
          'shuffle_rows', 'apply_shuffle_mul_sum', 'moe_sorting_fwd', 'moe_sorting_opus_fwd',
          'mxfp4_moe_sort_hip', 'topk_softplus', 'mixed_sample_outer_exponential'],
         '*'),
        ('quantization', ['_C', 'sgl_kernel', 'aiter'],
         ['static_scaled_fp8_quant', 'dynamic_scaled_fp8_quant',
          'dynamic_per_token_scaled_fp8_quant', 'static_scaled_int8_quant',
          'dynamic_scaled_int8_quant', 'scaled_fp4_quant', 'per_token_group_fp8_quant',
          'per_token_group_quant_int8', 'sgl_per_token_quant_fp8', 'sgl_per_tensor_quant_fp8',
          'sgl_per_token_group_quant_fp8', 'sgl_per_token_group_quant_int8',
          'sgl_per_token_group_quant_8bit', 'dynamic_per_token_scaled_quant',
          'dynamic_per_group_scaled_quant', 'dynamic_per_tensor_quant', 'static_per_tensor_quant',
          'smoothquant_fwd', 'scaled_fp4_experts_quant', 'silu_and_mul_scaled_fp4_experts_quant',
          'mxfp8_experts_quant', 'dynamic_per_group_scaled_quant_fp4',
          'fused_dynamic_mxfp4_quant_moe_sort_hip', 'fused_dynamic_mx_quant_moe_sort_hip'],
         '*'),
        ('quantization', ['vllm'],
         ['triton_per_token_group_quant_fp8', 'rocm_aiter_group_fp8_quant',
          'rocm_aiter_per_token_quant', 'rocm_aiter_per_tensor_quant'],
         '1 1:b8'),
        ('quantization', ['primus_turbo_cpp_extension'], ['quantize_fp8_tensorwise'], '1 1:b8')
),
-- The caller of a newer version allocates the result and a workspace.
of_versions (family, name, argument_count, dim_at, moved) AS (
    VALUES
        ('normalization', 'aiter::_groupnorm_run', 5, NULL, '* 1'),
        ('normalization', 'aiter::_groupnorm_run', 7, NULL, '1 3 5 6'),
        -- Functions of triton_kernels: weights and numbers of the chosen experts, and their order
        ('routing', 'TopK', 7, 4, '1 1$2 1$2:short'),
        ('routing', 'SortTokens', 3, NULL, '1 2 1 2:int 2:int'),
        ('activation', 'LigerSiLUMulFunction', 2, NULL, '1 2 1')
),
of_namespaces AS (
    SELECT family, unnest(namespaces) AS namespace, names, moved
    FROM of_servers
)
SELECT
    family, 'aten::' || unnest(names) AS name, argument_count, dim_at,
    string_split(moved, ' ') AS moved
FROM of_pytorch
UNION ALL
SELECT
    family, namespace || '::' || unnest(names) AS name, NULL AS argument_count, NULL AS dim_at,
    string_split(moved, ' ') AS moved
FROM of_namespaces
UNION ALL
SELECT family, name, argument_count, dim_at, string_split(moved, ' ') AS moved
FROM of_versions;
