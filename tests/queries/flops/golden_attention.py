"""Attention and element-wise operators with what they compute and move."""

from queries.flops.calls import BF16, NONE, call
from queries.flops.golden_flashinfer import GOLDEN_FLASHINFER
from queries.flops.golden_layouts import GOLDEN_LAYOUTS
from queries.flops.golden_moves import GOLDEN_MOVES
from queries.flops.golden_packed import GOLDEN_PACKED
from queries.flops.golden_products import GOLDEN_CONVOLUTIONS, GOLDEN_PRODUCTS
from queries.flops.golden_server import GOLDEN_SERVER

GOLDEN_ATTENTION = {
    # 16 heads in all, 256 pairs, 64 + 64 products for each.
    "attention": (
        call(
            "scaled_dot_product_attention",
            [[2, 8, 16, 64]] * 3 + [[]] * 5,
            BF16,
            {4: "0.", 5: "False", 7: "False"},
        ),
        2 * 16 * 256 * 128,
        2 * 4 * 16384,
    ),
    "attention, causal": (
        call(
            "_scaled_dot_product_flash_attention",
            [[2, 8, 16, 64]] * 3 + [[]] * 4,
            BF16,
            {3: "0.", 4: "True", 5: "False"},
        ),
        2 * 16 * 136 * 128,
        2 * 4 * 16384,
    ),
    # Query i meets keys 0 ... i: 1 + 2 + 3 + 4 pairs.
    "attention, causal, more keys": (
        call(
            "_scaled_dot_product_efficient_attention",
            [[1, 1, 4, 8], [1, 1, 16, 8], [1, 1, 16, 8], *NONE[:5]],
            BF16,
            {6: "True"},
        ),
        2 * 10 * 16,
        2 * (32 + 128 + 128 + 32),
    ),
    "attention, causal, more queries": (
        call(
            "_scaled_dot_product_cudnn_attention",
            [[1, 1, 5, 8], [1, 1, 3, 8], [1, 1, 3, 8], *NONE[:6]],
            BF16,
            {6: "True"},
        ),
        2 * (1 + 2 + 3 + 3 + 3) * 16,
        2 * (40 + 24 + 24 + 40),
    ),
    # From the bottom right, as flash attention has it: 13 + 14 + 15 + 16 pairs.
    "flash, causal, more keys": (
        call(
            "_flash_attention_forward",
            [[1, 4, 1, 8], [1, 16, 1, 8], [1, 16, 1, 8], *[[]] * 12],
            BF16,
            {5: "4", 6: "16", 8: "True"},
        ),
        2 * 58 * 16,
        2 * 320,
    ),
    "flash, causal, more queries": (
        call(
            "_flash_attention_forward",
            [[1, 5, 1, 8], [1, 3, 1, 8], [1, 3, 1, 8], *[[]] * 12],
            BF16,
            {5: "5", 6: "3", 8: "True"},
        ),
        2 * (0 + 0 + 1 + 2 + 3) * 16,
        2 * 128,
    ),
    "flash, bfloat16 values of another size": (
        call(
            "_flash_attention_forward",
            [[1, 4, 2, 8], [1, 4, 2, 8], [1, 4, 2, 6], *[[]] * 12],
            BF16,
            {8: "False"},
        ),
        2 * 2 * 16 * 14,
        2 * (64 + 64 + 48 + 48),
    ),
    "efficient, by number": (
        call(
            "_efficient_attention_forward",
            [[1, 4, 1, 8], [1, 16, 1, 8], [1, 16, 1, 8], *[[]] * 11],
            BF16,
            {9: "2"},
        ),
        2 * 58 * 16,
        640,
    ),
    "efficient, from the top left": (
        call(
            "_efficient_attention_forward",
            [[1, 4, 1, 8], [1, 16, 1, 8], [1, 16, 1, 8], *[[]] * 11],
            BF16,
            {9: "1"},
        ),
        2 * 10 * 16,
        640,
    ),
    # Eight heads of queries, two of keys.
    "grouped queries": (
        call(
            "scaled_dot_product_attention",
            [[1, 8, 4, 16], [1, 2, 4, 16], [1, 2, 4, 16], *NONE[:5]],
            BF16,
            {5: "False", 7: "True"},
        ),
        2 * 8 * 16 * 32,
        2 * (512 + 128 + 128 + 512),
    ),
    "three heads of keys for eight": (
        call(
            "scaled_dot_product_attention",
            [[1, 8, 4, 16], [1, 3, 4, 16], [1, 3, 4, 16], *NONE[:5]],
            BF16,
            {5: "False"},
        ),
        None,
        None,
    ),
    "attention with a mask": (
        call(
            "scaled_dot_product_attention",
            [[1, 2, 4, 8]] * 3 + [[4, 4], *NONE[:4]],
            [BF16] * 3 + ["float", "", "", "", ""],
            {5: "False"},
        ),
        2 * 2 * 16 * 16,
        2 * 4 * 64 + 4 * 16,
    ),
    "attention, is_causal unknown": (
        call("scaled_dot_product_attention", [[1, 2, 4, 8]] * 3 + NONE[:5], BF16),
        None,
        None,
    ),
    "attention backward": (
        call(
            "_scaled_dot_product_flash_attention_backward",
            [[1, 2, 4, 8]] * 5 + [[1, 2, 4], *[[]] * 9],
            BF16,
            {11: "False"},
        ),
        2 * 2 * 16 * (3 * 8 + 2 * 8),
        2 * 8 * 64,
    ),
    "attention backward, causal": (
        call(
            "_scaled_dot_product_efficient_attention_backward",
            [[1, 2, 4, 8]] * 4 + [[], [1, 2, 4, 8], [1, 2, 4], *[[]] * 6],
            BF16,
            {11: "True"},
        ),
        2 * 2 * 10 * 40,
        2 * 8 * 64,
    ),
    "flash backward": (
        call(
            "_flash_attention_backward",
            [[1, 4, 2, 8]] * 5 + [[1, 2, 4], *[[]] * 11],
            BF16,
            {11: "False"},
        ),
        2560,
        1024,
    ),
    "efficient backward": (
        call(
            "_efficient_attention_backward",
            [[1, 4, 2, 8]] * 4 + [[], [1, 4, 2, 8], *[[]] * 14],
            BF16,
            {14: "2"},
        ),
        1600,
        1024,
    ),
    "overrideable backward": (
        call(
            "_scaled_dot_product_fused_attention_overrideable_backward",
            [[1, 2, 4, 8]] * 4 + [[], [], [1, 2, 4, 8], [1, 2, 4], *[[]] * 9],
            BF16,
            {13: "True"},
        ),
        1600,
        1024,
    ),
    "cudnn backward": (
        call(
            "_scaled_dot_product_cudnn_attention_backward",
            [[1, 2, 4, 8]] * 5 + [[1, 2, 4], *[[]] * 10],
            BF16,
            {14: "True"},
        ),
        1600,
        1024,
    ),
}


GOLDEN_ELEMENTS = {
    "add": (call("add", [[8, 1, 32], [5, 1], []], "float"), None, 4 * (256 + 5 + 8 * 5 * 32)),
    "add_": (call("add_", [[8, 32], [32], []], "float"), None, 4 * (256 + 32 + 256)),
    "add a number": (call("add", [[8], [], []], ["float", "Scalar", "Scalar"]), None, 4 * 16),
    "add a double without dimension": (call("mul", [[8], []], [BF16, "double"]), None, 2 * 16 + 8),
    "add, nothing": (call("add", [[0, 4], [1, 4], []], "float"), None, 4 * 4),
    "eq": (call("eq", [[8], []], ["long int", "Scalar"]), None, 8 * 8 + 8),
    "copy_": (call("copy_", [[8], [8], []], ["c10::Half", "float", ""]), None, 4 * 8 + 2 * 8),
    "fill_": (call("fill_", [[8], []], ["long", "Scalar"]), None, 64),
    "sum": (call("sum", [[8, 4], []], "float"), None, 4 * 33),
    "sum of a dimension": (
        call("sum", [[8, 4], [], [], []], "float", {1: "[-1]"}),
        None,
        4 * (32 + 8),
    ),
    "sum of who knows which dimension": (
        call("sum", [[8, 4], [], [], []], "float", {1: "x"}) | {"concrete_inputs": None},
        None,
        None,
    ),
    "sum of a dimension that is not there": (
        call("sum", [[8, 4], [], [], []], "float", {1: "[2]"}),
        None,
        None,
    ),
    "sum of another dtype": (
        call("sum", [[8, 4], [], [], []], ["float", "", "", "Scalar"], {1: "[0]", 3: "7"}),
        None,
        4 * 32 + 8 * 4,
    ),
    "sum of integers": (call("sum", [[8], []], ["int", ""]), None, 4 * 8 + 8),
    "amax": (call("amax", [[8, 4], [], []], "float", {1: "[0]"}), None, 4 * (32 + 4)),
    "softmax": (call("_softmax", [[8, 4], [], []], BF16), None, 2 * 64),
}


GOLDEN = (
    GOLDEN_PRODUCTS
    | GOLDEN_CONVOLUTIONS
    | GOLDEN_ATTENTION
    | GOLDEN_ELEMENTS
    | GOLDEN_MOVES
    | GOLDEN_SERVER
    | GOLDEN_PACKED
    | GOLDEN_LAYOUTS
    | GOLDEN_FLASHINFER
)
