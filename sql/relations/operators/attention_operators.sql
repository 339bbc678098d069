-- Operators of scaled-dot-product attention, forward and backward.

-- One row per operator: the places of its arguments, counted from 1. NULL: no such argument.
--
--     query_at    query; key and value are the next two arguments
--     layout      order of the sizes. bhld: (batch, heads, length, size),
--                 blhd: (batch, length, heads, size),
--                 by size: one of these, with the larger one of the two middle sizes as length
--     causal_at   argument that says whether the mask is causal
--     causal      where the causal mask begins if the argument at causal_at
--                 is true. by number: that argument is a number that says where
--     mask_at     mask, given as a tensor
--     lengths_at  starts of the sequences, if sequences of several lengths
--                 are packed one after another. The longest lengths of
--                 queries and keys are two and three arguments later
--     window_at   window size to the left and, except in efficient
--                 operators, to the right in the next argument
--
-- shared: session
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
        ('flash_attn_3::_flash_attn_forward',
         false, 1, 'blhd', 25, 'bottom right', NULL, NULL, 26),
        ('_FAv3SageWrapperFunc', false, 1, 'by size', 5, 'bottom right', NULL, NULL, NULL),
        ('xformers::efficient_attention_forward_cutlass',
         false, 1, 'blhd', 10, 'by number', 4, 5, NULL)
) AS operators (
    name, is_backward, query_at, layout, causal_at, causal, mask_at, lengths_at, window_at
);
