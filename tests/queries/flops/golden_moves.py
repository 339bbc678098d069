"""Normalization, indexing, pooling and other operators with what they move."""

from queries.flops.calls import BF16, HALF, call

X = [2, 3, 4, 4]


GOLDEN_MOVES = {
    # 5 rows of 8: input, output, weight and bias, and two statistics per row.
    "layer norm": (
        call(
            "native_layer_norm",
            [[5, 8], [], [8], [8], []],
            [BF16, "ScalarList", BF16, BF16, "Scalar"],
            {1: "[8]"},
        ),
        None,
        2 * (40 + 40 + 8 + 8) + 2 * 4 * 5,
    ),
    "layer norm without weights": (
        call(
            "native_layer_norm",
            [[5, 8], [], [], [], []],
            ["float", "ScalarList", "", "", ""],
            {1: "[8]"},
        ),
        None,
        4 * 80 + 2 * 4 * 5,
    ),
    "layer norm backward": (
        call(
            "native_layer_norm_backward",
            [[5, 8], [5, 8], [], [5, 1], [5, 1], [8], [8], []],
            [BF16, BF16, "ScalarList", "float", "float", BF16, BF16, "ScalarList"],
            {2: "[8]", 7: "[True, True, False]"},
        ),
        None,
        2 * (40 + 40 + 8) + 4 * 10 + 2 * (40 + 8),
    ),
    "rms norm": (
        call(
            "_fused_rms_norm",
            [[5, 8], [], [8], []],
            [HALF, "ScalarList", HALF, "Scalar"],
            {1: "[8]"},
        ),
        None,
        2 * (80 + 8) + 4 * 5,
    ),
    "batch norm in training": (
        call(
            "native_batch_norm",
            [X, [3], [3], [3], [3], [], [], []],
            [BF16, *["float"] * 4, *["Scalar"] * 3],
            {5: "True"},
        ),
        None,
        2 * (96 + 96) + 4 * (3 + 3 + 4 * 3 + 2 * 3),
    ),
    "batch norm": (
        call(
            "native_batch_norm",
            [X, [3], [3], [3], [3], [], [], []],
            [BF16, *["float"] * 4, *["Scalar"] * 3],
            {5: "False"},
        ),
        None,
        2 * (96 + 96) + 4 * (3 + 3 + 2 * 3),
    ),
    "batch norm backward": (
        call(
            "native_batch_norm_backward",
            [X, X, [3], [3], [3], [3], [3], [], [], []],
            [*["float"] * 7, "Scalar", "Scalar", "ScalarList"],
            {7: "True", 9: "[True, True, True]"},
        ),
        None,
        4 * (3 * 96 + 3 + 2 * 3 + 2 * 3),
    ),
    "group norm": (
        call(
            "native_group_norm",
            [[2, 6, 4, 4], [6], [6], [], [], [], [], []],
            [BF16, BF16, BF16, *["Scalar"] * 5],
            {3: "2", 4: "6", 5: "16", 6: "3"},
        ),
        None,
        2 * (2 * 192 + 12 + 2 * 6),
    ),
    "embedding": (
        call(
            "embedding", [[100, 8], [5], [], [], []], [BF16, "long", "Scalar", "Scalar", "Scalar"]
        ),
        None,
        2 * 2 * 40 + 8 * 5,
    ),
    "embedding backward": (
        call(
            "embedding_dense_backward",
            [[5, 8], [5], [], [], []],
            [BF16, "long", "Scalar", "Scalar", "Scalar"],
            {2: "100"},
        ),
        None,
        2 * 40 + 8 * 5 + 2 * 800,
    ),
    "index_select of the last dimension": (
        call("index_select", [[5, 8], [], [3]], ["float", "Scalar", "long"], {1: "-1"}),
        None,
        2 * 4 * 15 + 8 * 3,
    ),
    "gather": (
        call("gather", [[5, 8], [], [5, 2], []], ["float", "Scalar", "long", "Scalar"], {1: "1"}),
        None,
        2 * 4 * 10 + 8 * 10,
    ),
    "scatter_add_": (
        call(
            "scatter_add_",
            [[5, 8], [], [5, 2], [5, 2]],
            ["float", "Scalar", "long", "float"],
            {1: "1"},
        ),
        None,
        3 * 4 * 10 + 8 * 10,
    ),
    "native_dropout": (
        call("native_dropout", [[5, 8], [], []], [BF16, "Scalar", "Scalar"]),
        None,
        2 * 2 * 40 + 40,
    ),
    "sort": (
        call("sort", [[5, 8], [], []], ["float", "Scalar", "Scalar"], {1: "-1"}),
        None,
        2 * 4 * 40 + 8 * 40,
    ),
    "topk": (
        call(
            "topk",
            [[5, 8], [], [], [], []],
            ["float", *["Scalar"] * 4],
            {1: "2", 2: "-1", 3: "True", 4: "True"},
        ),
        None,
        4 * 40 + 12 * 10,
    ),
    "nll_loss": (
        call(
            "nll_loss_forward", [[5, 8], [5], [], [], []], ["float", "long", "", "Scalar", "Scalar"]
        ),
        None,
        8 * 5 + 4 * 5,
    ),
    "upsample": (
        call("upsample_nearest2d", [X, [], [], []], [BF16, "ScalarList", "", ""], {1: "[8, 6]"}),
        None,
        2 * (96 + 6 * 48),
    ),
    "replication_pad3d": (
        call(
            "replication_pad3d",
            [[1, 2, 3, 4, 4], []],
            [BF16, "ScalarList"],
            {1: "[1, 1, 0, 2, 2, 0]"},
        ),
        None,
        2 * (96 + 2 * 5 * 6 * 6),
    ),
    # 4 x 4, windows of 2 every 2: 2 x 2.
    "max_pool2d": (
        call(
            "max_pool2d_with_indices",
            [X, [], [], [], [], []],
            ["float", *["ScalarList"] * 4, "Scalar"],
            {1: "[2, 2]", 2: "[]", 3: "[0, 0]", 4: "[1, 1]", 5: "False"},
        ),
        None,
        4 * 96 + (4 + 8) * 6 * 4,
    ),
    # 4 x 4, windows of 3 every 2: one, or rounded up two.
    "max_pool2d, rounded up": (
        call(
            "max_pool2d_with_indices",
            [X, [], [], [], [], []],
            ["float", *["ScalarList"] * 4, "Scalar"],
            {1: "[3, 3]", 2: "[2, 2]", 3: "[0, 0]", 4: "[1, 1]", 5: "True"},
        ),
        None,
        4 * 96 + (4 + 8) * 6 * 4,
    ),
    "avg_pool2d": (
        call(
            "avg_pool2d",
            [X, [], [], [], [], [], []],
            ["float", *["ScalarList"] * 3, "Scalar", "Scalar", ""],
            {1: "[3, 3]", 2: "[1, 1]", 3: "[1, 1]", 4: "False"},
        ),
        None,
        4 * (96 + 96),
    ),
    "mul of two types": (call("mul", [[8], [8]], [BF16, "float"]), None, 8 * (2 + 4 + 4)),
    "mul by a tensor without dimensions": (
        call("mul", [[8], []], [BF16, "float"]),
        None,
        16 + 4 + 16,
    ),
    "mul of whole numbers by such a tensor": (
        call("mul", [[8], []], ["int", "float"]),
        None,
        32 + 4 + 32,
    ),
    "mul without dimensions": (call("mul", [[], []], ["bool", "bool"]), None, 3),
    "mul of bytes with and without a sign": (
        call("mul", [[8], [8]], ["signed char", "unsigned char"]),
        None,
        None,
    ),
    "mul of two halves": (call("mul", [[8], [8]], [BF16, HALF]), None, 8 * (2 + 2 + 4)),
    "group norm of aiter": (
        call("", [[2, 6, 16], [], [6], [6], []], [BF16, "Scalar", BF16, BF16, "Scalar"])
        | {"name": "aiter::_groupnorm_run"},
        None,
        2 * (192 + 12 + 192),
    ),
    "div of whole numbers": (call("div", [[8], []], ["long", "Scalar"]), None, 64 + 32),
    "mul into out": (call("mul", [[8], [8], [8]], [BF16, BF16, "float"]), None, 16 + 16 + 32),
    "mul, another argument": (call("mul", [[8], [8], [4]], BF16), None, None),
    "where": (call("where", [[8, 1], [4], []], ["bool", BF16, BF16]), None, 8 + 8 + 2 + 2 * 32),
    "max of a dimension": (
        call("max", [[8, 4], [], []], ["float", "Scalar", "Scalar"], {1: "1"}),
        None,
        4 * 32 + 12 * 8,
    ),
    "max of two": (call("max", [[8], [8]], "float"), None, 96),
    "argmax": (
        call("argmax", [[8, 4], [], []], [BF16, "Scalar", "Scalar"], {1: "-1"}),
        None,
        2 * 32 + 8 * 8,
    ),
    "any": (call("any", [[8]], "bool"), None, 9),
    "cumsum of whole numbers": (
        call("cumsum", [[8], [], []], ["int", "Scalar", ""], {1: "0"}),
        None,
        8 * 4 + 8 * 8,
    ),
    "vector norm": (
        call(
            "linalg_vector_norm",
            [[8, 4], [], [], [], []],
            [BF16, "Scalar", "ScalarList", "Scalar", "Scalar"],
            {1: "2", 2: "[1]", 3: "False", 4: "6"},
        ),
        None,
        2 * 32 + 4 * 8,
    ),
}
