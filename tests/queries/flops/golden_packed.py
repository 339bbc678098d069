"""Products with packed weights, of groups, and other operators of servers."""

from queries.flops.calls import BF16, FP8, HALF, call
from queries.flops.golden_server import named

BYTE = "unsigned char"


def scalars(count):
    return ["Scalar"] * count


# (2, 64) x (64, 16), weights of 4 bits: eight in an int.

LAST = ["2", "16", "64", "True", "False", "True", "False"]


def texts(*values):
    return {at: text for at, text in enumerate(values) if text}


GOLDEN_PACKED = {
    "marlin_gemm": (
        named(
            "_C::marlin_gemm",
            [[2, 64], [], [4, 32], [], [4, 16], [], [], [], [], [], [128], *[[]] * 8],
            [HALF, "", "int", "", HALF, *[""] * 5, "int", *scalars(8)],
            texts(*[""] * 12, *LAST),
        ),
        2 * 2 * 64 * 16,
        2 * (128 + 32) + 4 * 128 + 2 * 64,
    ),
    "gptq_marlin_gemm of sgl-kernel": (
        named(
            "sgl_kernel::gptq_marlin_gemm",
            [[2, 64], [], [4, 32], [4, 16], [], [4, 2], [], [], [128], *[[]] * 8],
            [HALF, "", "int", HALF, "", "int", "", "", "int", *scalars(8)],
            texts(*[""] * 10, *LAST),
        ),
        2 * 2 * 64 * 16,
        2 * (128 + 32) + 4 * 128 + 2 * 64 + 4 * 8,
    ),
    "gptq_gemm": (
        named(
            "_C::gptq_gemm",
            [[2, 64], [8, 16], [4, 2], [4, 16], [64], [], [], []],
            [HALF, "int", "int", HALF, "int", *scalars(3)],
        ),
        2 * 2 * 64 * 16,
        2 * (128 + 32) + 4 * 128 + 4 * 8 + 2 * 64,
    ),
    "awq_gemm": (
        named(
            "_C::awq_gemm",
            [[2, 64], [64, 2], [4, 16], [4, 2], []],
            [HALF, "int", HALF, "int", "Scalar"],
        ),
        2 * 2 * 64 * 16,
        2 * (128 + 32) + 4 * 128 + 2 * 64 + 4 * 8,
    ),
    "ggml_mul_mat_a8": (
        named(
            "_C::ggml_mul_mat_a8", [[16, 34], [2, 64], [], []], [BYTE, HALF, *scalars(2)], {3: "16"}
        ),
        2 * 2 * 64 * 16,
        16 * 34 + 2 * (128 + 32),
    ),
    "gemm_with_dynamic_quant": (
        named(
            "vllm::gemm_with_dynamic_quant",
            [[2, 64], [16, 32], [16, 2], [], [], []],
            [BF16, BYTE, BYTE, *scalars(2), ""],
        ),
        2 * 2 * 64 * 16,
        2 * (128 + 32) + 16 * 32 + 16 * 2,
    ),
    "gemm_with_dynamic_quant of packed activations": (
        named(
            "vllm::gemm_with_dynamic_quant",
            [[2, 32], [16, 32], [16, 2], [], [], [2, 2]],
            [BYTE, BYTE, BYTE, *scalars(2), BYTE],
        ),
        None,
        None,
    ),
    "batched_gemm_a16wfp4": (
        named(
            "aiter::batched_gemm_a16wfp4_",
            [[3, 2, 64], [3, 16, 32], [3, 16, 2]],
            [BF16, BYTE, BYTE],
        ),
        3 * 2 * 2 * 64 * 16,
        2 * 3 * (128 + 32) + 3 * (16 * 32 + 16 * 2),
    ),
    # 10 rows of three groups: three matrices of 4 x 6.
    "grouped product over rows": (
        named(
            "primus_turbo::grouped_gemm_variable_k", [[10, 4], [10, 6], [3]], [BF16, BF16, "long"]
        ),
        2 * 10 * 4 * 6,
        2 * (40 + 60 + 3 * 24),
    ),
    # (5, 8) x (3, 6, 8), two numbers in a byte.
    "grouped product of four bits": (
        named(
            "_C::cutlass_fp4_group_mm",
            [[5, 6], [5, 4], [3, 6, 4], [5, 1], [3, 6, 1]],
            [BF16, BYTE, BYTE, FP8, FP8],
        ),
        2 * 5 * 8 * 6,
        5 * 4 + 3 * 6 * 4 + 2 * 30,
    ),
    "grouped product of mxfp8": (
        named(
            "_C::cutlass_mxfp8_grouped_mm",
            [[5, 8], [3, 6, 8], [5, 1], [3, 6, 1], [5, 6]],
            [FP8, FP8, BYTE, BYTE, BF16],
        ),
        2 * 5 * 8 * 6,
        40 + 3 * 48 + 2 * 30,
    ),
    # Two heads of 4 queries and 6 keys: from the bottom right 3 + 4 + 5 + 6 pairs.
    "flash attention 3": (
        named(
            "flash_attn_3::fwd",
            [[1, 4, 2, 8], [1, 6, 2, 8], [1, 6, 2, 8], *[[]] * 25],
            [BF16] * 3 + [""] * 20 + scalars(5),
            {24: "True", 25: "-1", 26: "-1"},
        ),
        2 * 2 * 18 * 16,
        2 * 2 * (32 + 48 + 48 + 32),
    ),
    "sage attention, heads first": (
        named(
            "_FAv3SageWrapperFunc",
            [[1, 2, 4, 8]] * 3 + [[]] * 10,
            [BF16] * 3 + ["", "Scalar", "", *scalars(5), "", ""],
            {4: "False"},
        ),
        2 * 2 * 16 * 16,
        2 * 4 * 64,
    ),
    "sage attention, lengths first": (
        named(
            "_FAv3SageWrapperFunc",
            [[1, 4, 2, 8]] * 3 + [[]] * 10,
            [BF16] * 3 + ["", "Scalar", "", *scalars(5), "", ""],
            {4: "False"},
        ),
        2 * 2 * 16 * 16,
        2 * 4 * 64,
    ),
    "gated delta net": (
        named(
            "vllm::gdn_attention_core",
            [[5, 64], [5, 4], [5, 4], [5, 4, 8], []],
            [BF16, BF16, "float", BF16, ""],
        ),
        None,
        2 * (5 * 64 + 20 + 160) + 4 * 20,
    ),
    "rmsnorm2d_fwd_ck": (
        named("aiter::rmsnorm2d_fwd_ck", [[5, 8], [8], [], []], [BF16, BF16, *scalars(2)]),
        None,
        2 * (40 + 8 + 40),
    ),
    "TopK": (
        named("TopK", [[5, 32], *[[]] * 6], [BF16, *scalars(4), "", ""], {1: "4", 3: "1"}),
        None,
        2 * 160 + (2 + 2) * 20,
    ),
    "SortTokens": (
        named("SortTokens", [[5, 4], [5, 4], []], [BF16, "short int", "Scalar"]),
        None,
        2 * 20 + 2 * 20 + 2 * 20 + 2 * 4 * 20,
    ),
    "index_put_": (
        call("index_put_", [[9, 8], [], [5, 8], []], ["float", "", "float", "Scalar"]),
        None,
        4 * 40 * 2,
    ),
    "index_put_ of a number": (
        call("index_put_", [[9, 8], [], [], []], ["float", "", "float", "Scalar"]),
        None,
        None,
    ),
    "arange": (call("arange", [[], [0]], ["Scalar", "long int"], {0: "7"}), None, 8 * 7),
    "arange by twos": (
        call("arange", [[], [], [], [0]], [*scalars(3), "float"], {0: "1", 1: "8", 2: "2"}),
        None,
        4 * 4,
    ),
}
