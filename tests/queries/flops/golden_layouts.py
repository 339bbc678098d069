"""Products whose arguments say how the sides lie, and experts with weights in Marlin's tiles."""

from queries.flops.calls import BF16, FP8
from queries.flops.golden_packed import BYTE, scalars
from queries.flops.golden_server import named

FP4 = "c10::Float4_e2m1fn_x2"
PRIMUS = "primus_turbo_cpp_extension"

# Y of (5, 4) from X of (5, 8) and W of (4, 8): A is W, transposed, and B is X.
TE_TYPES = [
    *[BYTE, "float", "", ""], "Scalar", BYTE, "float", *scalars(3), BF16, "float", "Scalar",
    "float", BF16, *scalars(1), BF16, *scalars(1), BYTE, *scalars(3),
]  # fmt: skip


def te_gemm(a, transposed_a, b, transposed_b, d):
    dims = [a, [1], [], [], [], b, [1], [], [], [], d, [0], [], [0], [d[1]], [], [0], [], [9]]
    return named(
        "tex_ts::te_gemm_ts", dims + [[]] * 3, TE_TYPES, {4: transposed_a, 9: transposed_b}
    )


# Four experts, tokens of 32, inner size 16, gated, weights of 4 bits. An int holds eight numbers,
# so the tiles are (4, 32 / 16, 16 * 32 / 8) and (4, 16 / 16, 16 * 32 / 8).
FIRST, SECOND = [4, 2, 64], [4, 1, 64]
EXPERT = 2 * 16 * 32 + 16 * 32


def marlin_product(x, weights, rows, chosen, size, newer=False, out=None):
    """_moe_C::moe_wna16_marlin_gemm: of 29 arguments in a newer version, or of 24."""
    middle = 11 if newer else 8
    dims = [x, out or [], weights, *[[]] * middle, [x[0], chosen]]
    types = [BF16 if at == 0 else BF16 if at == 1 and out else "" for at in range(len(dims))]
    types[2] = "int"
    end = ["True", "False", "True", "False"] + (["-1"] * 3 if newer else [])
    kind = ["True", "77"] if newer else ["True", "False", "77"]
    values = ["8", str(chosen), *kind, str(x[0]), str(rows), str(size), *end]
    texts = {len(dims) + at: value for at, value in enumerate(values)}
    return named(
        "_moe_C::moe_wna16_marlin_gemm",
        dims + [[]] * len(values),
        types + scalars(len(values)),
        texts,
    )


GOLDEN_LAYOUTS = {
    "te_gemm_ts": (
        te_gemm([4, 8], "1", [5, 8], "0", [5, 4]),
        2 * 5 * 8 * 4,
        32 + 40 + 2 * 20 + 2 * 4,
    ),
    # The gradient of W, (4, 8), from X of (5, 8) and the gradient of Y, (5, 4).
    "te_gemm_ts of a weight's gradient": (
        te_gemm([5, 8], "0", [5, 4], "1", [4, 8]),
        2 * 5 * 8 * 4,
        40 + 20 + 2 * 32 + 2 * 8,
    ),
    "te_gemm_ts that does not fit": (te_gemm([5, 8], "1", [5, 4], "1", [4, 8]), None, None),
    "hipblaslt_gemm": (
        named(
            f"{PRIMUS}::hipblaslt_gemm",
            [[8, 5], [4, 8], [], [], [], []],
            [BF16, BF16, *scalars(4)],
            {2: "6", 3: "True", 4: "True", 5: "False"},
        ),
        2 * 5 * 8 * 4,
        2 * (40 + 32) + 4 * 20,
    ),
    "hipblaslt_gemm_fp8": (
        named(
            f"{PRIMUS}::hipblaslt_gemm_fp8",
            [[5, 8], [], [8, 4], *[[]] * 6],
            [FP8, "float", FP8, "float", *scalars(4), ""],
            {4: "15", 5: "False", 6: "False", 7: "True"},
        ),
        2 * 5 * 8 * 4,
        40 + 32 + 2 * 20,
    ),
    "hipblaslt_gemm_fp4": (
        named(
            f"{PRIMUS}::hipblaslt_gemm_fp4",
            [[5, 8], [5, 1], [4, 8], [4, 1], *[[]] * 5],
            [FP4, BYTE, FP4, BYTE, *scalars(4), ""],
            {4: "15", 5: "False", 6: "True", 7: "False"},
        ),
        2 * 5 * 16 * 4,
        40 + 32 + 2 * 20,
    ),
    "ck_gemm_fp8": (
        named(
            f"{PRIMUS}::ck_gemm_fp8",
            [[5, 8], [4, 8], [], [], *[[]] * 4],
            [FP8, FP8, "float", "float", *scalars(3), ""],
            {4: "False", 5: "True", 6: "5"},
        ),
        2 * 5 * 8 * 4,
        40 + 32 + 2 * 20,
    ),
    "gemm_impl of Primus-Turbo, with bias": (
        named(
            "primus_turbo::gemm_impl",
            [[8, 5], [], [8, 4], [], [], [], [], [4]],
            [BF16, "Scalar", BF16, *scalars(4), BF16],
            {1: "True", 3: "False", 4: "15", 5: "False"},
        ),
        2 * 5 * 8 * 4,
        2 * (40 + 32 + 20 + 4),
    ),
    "gemm_fp8_impl of Primus-Turbo": (
        named(
            "primus_turbo::gemm_fp8_impl",
            [[5, 8], [], [], [4, 8], [], [], [], [], [], []],
            [FP8, "float", "Scalar", FP8, "float", *scalars(5)],
            {2: "False", 5: "True", 6: "15", 7: "False"},
        ),
        2 * 5 * 8 * 4,
        40 + 32 + 2 * 20,
    ),
    # Ten rows of three groups.
    "grouped product of FP8": (
        named(
            f"{PRIMUS}::hipblaslt_grouped_gemm_fp8",
            [[10, 8], [3, 4, 8], [], [], [3], [4], *[[]] * 5],
            [FP8, FP8, "float", "float", "long int", "long int", *scalars(3), "", "Scalar"],
            {6: "False", 7: "True", 8: "15"},
        ),
        2 * 10 * 8 * 4,
        80 + 96 + 2 * 40,
    ),
    "grouped product of FP8 over rows": (
        named(
            f"{PRIMUS}::ck_grouped_gemm_fp8_variable_k",
            [[10, 8], [10, 4], [], [], [3], [4], *[[]] * 5],
            [FP8, FP8, "float", "float", "long int", "long int", *scalars(3), "", "Scalar"],
            {6: "True", 7: "False", 8: "15"},
        ),
        2 * 10 * 8 * 4,
        80 + 40 + 2 * 3 * 32,
    ),
    "wvSplitKQ": (
        named(
            "_rocm_C::wvSplitKQ",
            [[4, 8], [5, 8], [5, 4], [], [], []],
            [FP8, FP8, BF16, "float", "float", "Scalar"],
        ),
        2 * 5 * 8 * 4,
        32 + 40 + 2 * 20,
    ),
    "wvSplitKQ with a place for a bias": (
        named(
            "_rocm_C::wvSplitKQ",
            [[4, 8], [5, 8], [], [5, 4], [], [], []],
            [FP8, FP8, "", BF16, "float", "float", "Scalar"],
        ),
        2 * 5 * 8 * 4,
        32 + 40 + 2 * 20,
    ),
    "preshuffled product": (
        named(
            "vllm::_rocm_aiter_preshuffled_per_token_w8a8_gemm",
            [[5, 8], [4, 8], [5, 1], [4, 1], [4], []],
            [FP8, FP8, "float", "float", BF16, "Scalar"],
            {5: "15"},
        ),
        2 * 5 * 8 * 4,
        40 + 32 + 2 * (20 + 4),
    ),
    "fused_marlin_moe": (
        named(
            "vllm::fused_marlin_moe",
            [[5, 32], FIRST, SECOND, [4, 2, 32], [4, 1, 32], [5, 4], [5, 2], [5, 2], [], []],
            [BF16, "int", "int", BF16, BF16, BF16, "float", "int", "Scalar", ""],
        ),
        2 * 10 * EXPERT,
        2 * (160 + 160) + 4 * 4 * EXPERT // 8,
    ),
    "fused_marlin_moe with biases": (
        named(
            "vllm::fused_marlin_moe",
            [[1, 32], FIRST, SECOND, [], [], [4, 2, 32], [4, 1, 32], [], [1, 2], [1, 2], []],
            [BF16, "int", "int", "", "", BF16, BF16, "", "float", "int", "Scalar"],
        ),
        2 * 2 * EXPERT,
        2 * (32 + 32) + 2 * 4 * EXPERT // 8,
    ),
    "fused_marlin_moe of 8 bits": (
        named(
            "vllm::fused_marlin_moe",
            [[5, 32], [4, 2, 128], [4, 1, 128], [], [], [], [5, 2], [5, 2]],
            [BF16, "int", "int", "", "", "", "float", "int"],
        ),
        2 * 10 * EXPERT,
        2 * (160 + 160) + 4 * 4 * EXPERT // 4,
    ),
    "fused_marlin_moe that does not fit": (
        named(
            "vllm::fused_marlin_moe",
            [[5, 48], FIRST, SECOND, [], [], [], [5, 2], [5, 2]],
            [BF16, "int", "int", "", "", "", "float", "int"],
        ),
        None,
        None,
    ),
    "first product of Marlin's experts": (
        marlin_product([5, 32], FIRST, 32, 2, 32),
        2 * 5 * 2 * 32 * 32,
        2 * (160 + 10 * 32) + 4 * 4 * 32 * 32 // 8,
    ),
    "second product of Marlin's experts": (
        marlin_product([10, 16], SECOND, 32, 1, 16, newer=True, out=[10, 32]),
        2 * 10 * 16 * 32,
        2 * (160 + 10 * 32) + 4 * 4 * 16 * 32 // 8,
    ),
    # Five queries of two heads, each with four keys; there are nine.
    "sparse attention over latent keys": (
        named(
            "_flashmla_C::sparse_prefill_fwd",
            [[5, 2, 24], [9, 1, 24], [5, 1, 4], [], []],
            [BF16, BF16, "int", *scalars(2)],
            {3: "0.1", 4: "16"},
        ),
        2 * 2 * (24 + 16) * 20,
        2 * 10 * (24 + 16) + 2 * 9 * 24 + 4 * 20,
    ),
    # A latent key takes 40 bytes of the cache.
    "sparse attention over a cache of bytes": (
        named(
            "_flashmla_C::fwd_kvcache_mla",
            [[3, 1, 2, 24], [4, 8, 1, 40], [], [3], [3, 4], *[[]] * 5, [3, 1, 4]],
            [BF16, BYTE, "Scalar", "int", "int", *scalars(2), "", "", "Scalar", "int"],
            {2: "16", 6: "False", 9: "True"},
        ),
        2 * 2 * (24 + 16) * 12,
        2 * 6 * (24 + 16) + 12 * 40 + 4 * 12,
    ),
    # Queries (5, 2, 8) and (5, 2, 4), keys (5, 8) and (5, 4), into a cache of FP8.
    "rotation of queries and keys into a cache": (
        named(
            "aiter::fused_qk_rope_concat_and_cache_mla",
            [
                [5, 2, 8],
                [5, 2, 4],
                [5, 8],
                [5, 4],
                [9, 1, 12],
                [5, 2, 12],
                [5],
                [1],
                [1],
                [5],
                [99, 2],
                [99, 2],
                [],
                [],
            ],
            [
                *[BF16] * 4,
                FP8,
                BF16,
                "long int",
                "float",
                "float",
                "long int",
                "float",
                "float",
                *scalars(2),
            ],
        ),
        None,
        2 * (80 + 40 + 40 + 20) + 60 + 2 * 120 + 8 * 5 + 8 * 5 + 2 * 4 * 10,
    ),
    "causal convolution": (
        named(
            "DaoAILab::_causal_conv1d_fwd_cpp",
            [[2, 8, 10], [8, 4], [8], [], [], [2, 8, 10], [], []],
            [BF16, BF16, BF16, "", "", BF16, "", "Scalar"],
        ),
        None,
        2 * (160 + 32 + 8 + 160),
    ),
    # Rows of 12 are padded to 16, which is not counted.
    "rmsnorm with padding": (
        named(
            "vllm::rocm_aiter_triton_add_rmsnorm_pad",
            [[5, 12], [12], [], [5, 12], []],
            [BF16, BF16, "Scalar", BF16, "Scalar"],
            {2: "1e-05", 4: "16"},
        ),
        None,
        2 * (60 + 12 + 60 + 60 + 60),
    ),
    "quantize_fp8_tensorwise": (
        named(f"{PRIMUS}::quantize_fp8_tensorwise", [[5, 8], [], []], [BF16, "Scalar", ""]),
        None,
        3 * 40,
    ),
}
