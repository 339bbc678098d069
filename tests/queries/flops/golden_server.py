"""Operators of inference servers, and mixtures of experts, with what they compute and move."""

from queries.flops.calls import BF16, FP8, call


def named(name, dims, types=None, texts=None):
    return call("", dims, types, texts) | {"name": name}


# Experts: 4 of them, tokens of 8, inner size 6, gated: weights (4, 12, 8) and (4, 8, 6).
FUSED = [[5, 8], [4, 12, 8], [4, 8, 6], [5, 2], [5, 2]]


GOLDEN_SERVER = {
    "gemm_a16w16": (
        named(
            "aiter::gemm_a16w16",
            [[2, 3], [4, 3], [], [], [], [], []],
            [BF16, BF16, "", "Scalar", "", "", ""],
            {3: "15"},
        ),
        2 * 24,
        2 * (6 + 12 + 8),
    ),
    "gemm_a16w16 to float, with bias": (
        named(
            "aiter::gemm_a16w16",
            [[2, 3], [4, 3], [4], []],
            [BF16, BF16, "float", "Scalar"],
            {3: "6"},
        ),
        48,
        2 * 18 + 4 * 4 + 4 * 8,
    ),
    "rocm_unquantized_gemm": (
        named("vllm::rocm_unquantized_gemm", [[7, 2, 3], [4, 3], [4]], BF16),
        2 * 14 * 3 * 4,
        2 * (42 + 12 + 4 + 56),
    ),
    "wvSplitK": (
        named("_rocm_C::wvSplitK", [[4, 3], [2, 3], []], [BF16, BF16, "Scalar"]),
        48,
        2 * (12 + 6 + 8),
    ),
    "gemm_a8w8_blockscale": (
        named(
            "aiter::gemm_a8w8_blockscale",
            [[2, 3], [4, 3], [2, 1], [1, 1], []],
            [FP8, FP8, "float", "float", "Scalar"],
            {4: "15"},
        ),
        48,
        6 + 12 + 2 * 8,
    ),
    "gemm_a8w8_blockscale to what": (
        named("aiter::gemm_a8w8_blockscale", [[2, 3], [4, 3], [2, 1], [1, 1], []], FP8),
        48,
        None,
    ),
    "gemm_a8w8_blockscale_ck": (
        named(
            "aiter::gemm_a8w8_blockscale_ck",
            [[2, 3], [4, 3], [2, 1], [1, 1], [2, 4]],
            [FP8, FP8, "float", "float", BF16],
        ),
        48,
        6 + 12 + 2 * 8,
    ),
    # (2, 6) x (4, 6), two numbers in a byte.
    "gemm_a4w4": (
        named(
            "aiter::_gemm_a4w4_asm",
            [[2, 3], [4, 3], [2, 1], [4, 1], [2, 4]],
            ["unsigned char", "unsigned char", "unsigned char", "unsigned char", BF16],
        ),
        2 * 2 * 6 * 4,
        6 + 12 + 2 * 8,
    ),
    "cutlass_scaled_mm": (
        named(
            "_C::cutlass_scaled_mm",
            [[2, 4], [2, 3], [3, 4], [2, 1], [1, 4], [4]],
            [BF16, FP8, FP8, "float", "float", BF16],
        ),
        48,
        2 * 8 + 6 + 12 + 2 * 4,
    ),
    "fp8_scaled_mm": (
        named(
            "sgl_kernel::fp8_scaled_mm",
            [[2, 3], [3, 4], [2, 1], [1, 4], [], []],
            [FP8, FP8, "float", "float", "Scalar", ""],
            {4: "15"},
        ),
        48,
        6 + 12 + 2 * 8,
    ),
    "_Linear": (named("_Linear", [[4, 3], [2, 3], [4]], BF16), 48, 2 * (12 + 6 + 4 + 8)),
    # 5 rows, each with one of 4 matrices.
    "_grouped_mm": (
        call("_grouped_mm", [[5, 3], [4, 3, 2], [4], [], []], [BF16, BF16, "int", "", ""]),
        2 * 5 * 3 * 2,
        2 * (15 + 24 + 10),
    ),
    "_grouped_mm of the weights' gradient": (
        call("_grouped_mm", [[3, 5], [5, 2], [4], [], []], [BF16, BF16, "int", "", ""]),
        2 * 3 * 5 * 2,
        2 * (15 + 10 + 4 * 6),
    ),
    # 10 choices, each 2 (12 8 + 8 6) operations; all 4 experts can be chosen.
    "fused_experts": (
        named("vllm::outplace_fused_experts", FUSED, [BF16, BF16, BF16, "float", "int"]),
        2 * 10 * (96 + 48),
        2 * (40 + 40 + 4 * 144),
    ),
    "fused_experts of one token": (
        named(
            "vllm::outplace_fused_experts",
            [[1, 8], [4, 12, 8], [4, 8, 6], [1, 2], [1, 2]],
            [BF16, BF16, BF16, "float", "int"],
        ),
        2 * 2 * 144,
        2 * (8 + 8 + 2 * 144),
    ),
    "fused_experts, two numbers in a byte": (
        named(
            "aiter::fused_moe_",
            [[5, 8], [4, 12, 4], [4, 8, 3], [5, 2], [5, 2]],
            [BF16, "unsigned char", "unsigned char", "float", "int"],
        ),
        2 * 10 * (96 + 48),
        2 * 80 + 4 * 72,
    ),
    "fused_experts that do not fit": (
        named(
            "vllm::outplace_fused_experts",
            [[5, 8], [4, 12, 7], [4, 8, 6], [5, 2], [5, 2]],
            [BF16, BF16, BF16, "float", "int"],
        ),
        None,
        None,
    ),
    "first stage": (
        named(
            "aiter::ck_moe_stage1",
            [[5, 8], [4, 12, 8], [4, 8, 6], [10], [4], [1], [5, 2, 6], []],
            [BF16, BF16, BF16, "int", "int", "int", BF16, "Scalar"],
            {7: "2"},
        ),
        2 * 10 * 96,
        2 * (40 + 60 + 4 * 96),
    ),
    "second stage": (
        named(
            "aiter::ck_moe_stage2",
            [[5, 2, 6], [4, 12, 8], [4, 8, 6], [10], [4], [1], [5, 8], []],
            [BF16, BF16, BF16, "int", "int", "int", BF16, "Scalar"],
            {7: "2"},
        ),
        2 * 10 * 48,
        2 * (60 + 40 + 4 * 48),
    ),
    "moe_forward": (
        named("vllm::moe_forward", [[5, 8], [5, 4], []], [BF16, BF16, ""]),
        None,
        2 * (40 + 40 + 20),
    ),
    "flash attention": (
        named(
            "aiter::fmha_v3_fwd",
            [[2, 3, 4, 8], [2, 5, 2, 8], [2, 5, 2, 8], [], [], [], [], []],
            [BF16, BF16, BF16, *["Scalar"] * 5],
            {5: "False", 6: "-1", 7: "-1"},
        ),
        2 * 2 * 4 * 15 * 16,
        2 * (2 * 96 * 2 + 2 * 80 * 2),
    ),
    # 3 queries at the end of 5 keys: 3 + 4 + 5 pairs.
    "flash attention, causal": (
        named(
            "flash_attn::_flash_attn_forward",
            [[1, 3, 4, 8], [1, 5, 4, 8], [1, 5, 4, 8], [], [], [], [], []],
            [BF16, BF16, BF16, *["Scalar"] * 5],
            {5: "True", 6: "-1", 7: "-1"},
        ),
        2 * 4 * 12 * 16,
        2 * (2 * 96 + 2 * 160),
    ),
    "rms_norm": (named("_C::rms_norm", [[4, 8], [4, 8], [8], []], BF16), None, 2 * 72),
    "rms_norm with a result": (named("aiter::rms_norm", [[4, 8], [8], []], BF16), None, 2 * 72),
    "fused_add_rms_norm": (
        named("_C::fused_add_rms_norm", [[4, 8], [4, 8], [8], []], BF16),
        None,
        2 * (4 * 32 + 8),
    ),
    "add_rmsnorm": (
        named("aiter::add_rmsnorm", [[4, 8]] * 4 + [[8], []], BF16),
        None,
        2 * (4 * 32 + 8),
    ),
    "silu_and_mul": (named("_C::silu_and_mul", [[4, 8], [4, 16]], BF16), None, 2 * 96),
    # 4 positions, 2 heads of 8 and 1 of 8, a cache of 100 positions.
    "rotary_embedding": (
        named(
            "_C::rotary_embedding",
            [[4], [4, 16], [4, 8], [], [100, 8], []],
            ["long int", BF16, BF16, "Scalar", BF16, "Scalar"],
        ),
        None,
        4 * 8 + 2 * (2 * 64 + 2 * 32 + 32),
    ),
    "reshape_and_cache_flash": (
        named(
            "_C_cache_ops::reshape_and_cache_flash",
            [[4, 2, 8], [4, 2, 8], [100, 16, 2, 8], [100, 16, 2, 8], [4], [], [], []],
            [BF16, BF16, "unsigned char", "unsigned char", "long int", "", "float", "float"],
        ),
        None,
        2 * 2 * 64 + 2 * 64 + 4 * 8,
    ),
    "static_scaled_fp8_quant": (
        named("_C::static_scaled_fp8_quant", [[4, 8], [4, 8], [1]], [FP8, BF16, "float"]),
        None,
        32 + 64 + 4,
    ),
    "topk_softmax": (
        named(
            "_moe_C::topk_softmax",
            [[4, 2], [4, 2], [4, 2], [4, 8], []],
            ["float", "int", "int", BF16, "Scalar"],
        ),
        None,
        4 * 24 + 2 * 32,
    ),
    "triton": (
        named("triton_poi_fused_add_0", [[4, 8], [8], [4, 8], []], [BF16, "float", BF16, "Scalar"]),
        None,
        2 * 64 + 4 * 8,
    ),
    "triton without tensors": (named("triton_poi_fused_0", [[]], ["Scalar"]), None, None),
}
