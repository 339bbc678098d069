"""Products and experts of FlashInfer, as vLLM and SGLang register them."""

from queries.flops.calls import BF16, FP8
from queries.flops.golden_packed import BYTE, scalars
from queries.flops.golden_server import named

GOLDEN_FLASHINFER = {
    # (5, 16) x (16, 4), two numbers in a byte.
    "flashinfer_mm_fp4": (
        named(
            "vllm::flashinfer_mm_fp4",
            [[5, 8], [8, 4], [5, 1], [1, 4], [], [], [], []],
            [BYTE, BYTE, BYTE, BYTE, "float", *scalars(2), ""],
            {5: "15", 6: "False"},
        ),
        2 * 5 * 16 * 4,
        40 + 32 + 2 * 20,
    ),
    "bmm_fp8": (
        named(
            "vllm::bmm_fp8",
            [[3, 5, 8], [3, 8, 4], [], [], [], []],
            [FP8, FP8, "float", "float", "Scalar", ""],
            {4: "15"},
        ),
        2 * 3 * 5 * 8 * 4,
        3 * (40 + 32 + 2 * 20),
    ),
    # Four experts of (12, 8) and (8, 6), two for each of five tokens.
    "flashinfer_fused_moe_blockscale_fp8": (
        named(
            "vllm::flashinfer_fused_moe_blockscale_fp8",
            [[5, 4], [4], [5, 8], [4, 12, 8], [4, 1, 1], [4, 8, 6], [4, 1, 1], *[[]] * 10],
            ["float", BF16, BF16, FP8, "float", FP8, "float", *scalars(10)],
            {7: "4", 8: "2"},
        ),
        2 * 10 * (96 + 48),
        2 * (40 + 40) + 4 * (96 + 48),
    ),
}
