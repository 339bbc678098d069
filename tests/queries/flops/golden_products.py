"""Matrix products and convolutions with what they compute and move."""

from queries.flops.calls import BACK, BF16, CONV, FP8, HALF, NONE, call

GOLDEN_PRODUCTS = {
    # (2, 3) x (3, 4): 8 results of 3 products each.
    "mm": (call("mm", [[2, 3], [3, 4]], BF16), 2 * 24, 2 * (6 + 12 + 8)),
    "mm, out": (call("mm", [[2, 3], [3, 4], [2, 4]], BF16), 48, 52),
    "mm to float": (call("mm", [[2, 3], [3, 4], []], BF16, {2: "6"}), 48, 2 * 18 + 4 * 8),
    "mm, empty": (call("mm", [[2, 0], [0, 4]], BF16), 0, 2 * 8),
    "mm, sides do not fit": (call("mm", [[2, 3], [4, 4]], BF16), None, None),
    "mm of an interpreter's stack": (
        call("mm", [[2, 3], [3, 4], [2, 4], [2, 4]], BF16),
        None,
        None,
    ),
    "mm of unknown type": (call("mm", [[2, 3], [3, 4]], "Foo"), 48, None),
    "mm without types": (call("mm", [[2, 3], [3, 4]]), 48, None),
    "mm, negative": (call("mm", [[-2, 3], [3, 4]], BF16), None, None),
    "mm, too large": (call("mm", [[2**40, 2**40], [2**40, 4]], BF16), None, None),
    "mm, large": (call("mm", [[2**20, 2**20], [2**20, 2]], BF16), 2**42, 2 * (2**40 + 2**22)),
    "addmm": (
        call("addmm", [[4], [2, 3], [3, 4], [], []], "float", {3: "1", 4: "1"}),
        48,
        4 * (4 + 6 + 12 + 8),
    ),
    "addmm, another result": (
        call("addmm", [[4], [2, 3], [3, 4], [], []], ["float", BF16, BF16, "Scalar", "Scalar"]),
        48,
        4 * 4 + 2 * 18 + 4 * 8,
    ),
    "bmm": (call("bmm", [[5, 2, 3], [5, 3, 4]], "double"), 5 * 48, 8 * (30 + 60 + 40)),
    "bmm, other batch": (call("bmm", [[5, 2, 3], [1, 3, 4]], "double"), None, None),
    "baddbmm": (
        call("baddbmm", [[5, 2, 4], [5, 2, 3], [5, 3, 4], [], []], HALF),
        240,
        2 * (40 + 30 + 60 + 40),
    ),
    "baddbmm, one for all": (
        call("baddbmm", [[1, 1, 4], [5, 2, 3], [5, 3, 4], [], []], HALF),
        240,
        2 * (4 + 30 + 60 + 40),
    ),
    "linear": (
        call("linear", [[7, 2, 3], [4, 3], [4]], "float"),
        2 * 14 * 3 * 4,
        4 * (42 + 12 + 4 + 56),
    ),
    "linear without bias": (
        call("linear", [[7, 2, 3], [4, 3], []], "float"),
        336,
        4 * (42 + 12 + 56),
    ),
    "linear of two": (call("linear", [[7, 2, 3], [4, 3]], "float"), 336, 440),
    "linear of vectors": (call("linear", [[3], [3], []], "float"), 6, 4 * (3 + 3 + 1)),
    "_scaled_mm to bfloat16": (
        call(
            "_scaled_mm",
            [[16, 32], [32, 8], [], [], [8], [], [], []],
            [FP8, FP8, "float", "float", BF16, "", "Scalar", "Scalar"],
            {6: "15", 7: "True"},
        ),
        2 * 16 * 32 * 8,
        16 * 32 + 32 * 8 + 2 * 8 + 2 * 128,
    ),
    "_scaled_mm to its own": (
        call(
            "_scaled_mm",
            [[16, 32], [32, 8], [], [], [], [], [], []],
            [FP8, FP8, "float", "float", "", "", "", "Scalar"],
        ),
        8192,
        512 + 256 + 128,
    ),
    "_scaled_mm until 2.4": (
        call(
            "_scaled_mm",
            [[16, 32], [32, 8], [8], [], [], [], [], []],
            [FP8, FP8, BF16, "Scalar", "float", "float", "", "Scalar"],
            {3: "15"},
        ),
        8192,
        512 + 256 + 16 + 256,
    ),
    "_scaled_mm of float4": (
        call(
            "_scaled_mm",
            [[16, 16], [16, 8], [], [], [], [], [], []],
            ["c10::Float4_e2m1fn_x2"] * 2 + ["c10::Float8_e4m3fn"] * 2 + ["", "", "Scalar", ""],
            {6: "15"},
        ),
        8192,
        256 + 128 + 256,
    ),
    "_int_mm": (call("_int_mm", [[2, 3], [3, 4]], "signed char"), 48, 6 + 12 + 4 * 8),
}


GOLDEN_CONVOLUTIONS = {
    # Weight of 216 at 64 places, in 2 samples.
    "conv2d": (
        call("convolution", [[2, 4, 8, 8], [6, 4, 3, 3], [6], *NONE], "float", CONV),
        2 * 2 * 216 * 64,
        4 * (512 + 216 + 6 + 2 * 6 * 64),
    ),
    "conv2d, groups and stride": (
        call(
            "convolution",
            [[2, 4, 8, 8], [6, 2, 3, 3], [], *NONE],
            "float",
            CONV | {3: "[2, 2]", 8: "2"},
        ),
        2 * 2 * 108 * 16,
        4 * (512 + 108 + 2 * 6 * 16),
    ),
    "conv2d, one number for both": (
        call(
            "convolution",
            [[2, 4, 8, 8], [6, 2, 3, 3], [], *NONE],
            "float",
            CONV | {3: "[2]", 4: "[1]", 5: "[1]", 7: "[0]", 8: "2"},
        ),
        6912,
        4 * 812,
    ),
    "depthwise": (
        call(
            "_convolution",
            [[1, 4, 6, 6], [4, 1, 3, 3], [], *NONE, [], [], [], []],
            HALF,
            CONV | {4: "[0, 0]", 8: "4"},
        ),
        2 * 36 * 16,
        2 * (144 + 36 + 64),
    ),
    "conv1d, dilated": (
        call(
            "convolution",
            [[1, 2, 10], [3, 2, 3], [], *NONE],
            "float",
            {3: "[1]", 4: "[0]", 5: "[2]", 6: "False", 7: "[0]", 8: "1"},
        ),
        2 * 18 * 6,
        4 * (20 + 18 + 18),
    ),
    "conv3d": (
        call(
            "convolution",
            [[1, 1, 4, 4, 4], [2, 1, 2, 2, 2], [], *NONE],
            "float",
            {3: "[1, 1, 1]", 4: "[0, 0, 0]", 5: "[1, 1, 1]", 6: "False", 7: "[0, 0, 0]", 8: "1"},
        ),
        2 * 16 * 27,
        4 * (64 + 16 + 54),
    ),
    # (5 - 1) 2 - 2 + 2 + 1 + 1 = 10 outputs a side, from 25 places.
    "transposed": (
        call(
            "convolution",
            [[2, 4, 5, 5], [4, 3, 3, 3], [], *NONE],
            "float",
            CONV | {3: "[2, 2]", 6: "True", 7: "[1, 1]"},
        ),
        2 * 2 * 108 * 25,
        4 * (200 + 108 + 2 * 3 * 100),
    ),
    "transposed, groups": (
        call(
            "convolution",
            [[2, 4, 5, 5], [4, 3, 3, 3], [], *NONE],
            "float",
            CONV | {3: "[2, 2]", 6: "True", 7: "[1, 1]", 8: "2"},
        ),
        10800,
        4 * (200 + 108 + 2 * 6 * 100),
    ),
    "cudnn_convolution": (
        call(
            "cudnn_convolution",
            [[2, 4, 8, 8], [6, 2, 3, 3], *NONE, []],
            "float",
            {2: "[1, 1]", 3: "[2, 2]", 4: "[1, 1]", 5: "2"},
        ),
        6912,
        4 * 812,
    ),
    "cudnn_convolution_transpose": (
        call(
            "cudnn_convolution_transpose",
            [[2, 4, 5, 5], [4, 3, 3, 3], *NONE, [], []],
            "float",
            {2: "[1, 1]", 3: "[1, 1]", 4: "[2, 2]", 5: "[1, 1]", 6: "1"},
        ),
        10800,
        4 * 908,
    ),
    "miopen_convolution_transpose": (
        call(
            "miopen_convolution_transpose",
            [[2, 4, 5, 5], [4, 3, 3, 3], [3], *NONE, []],
            "float",
            {3: "[1, 1]", 4: "[1, 1]", 5: "[2, 2]", 6: "[1, 1]", 7: "1"},
        ),
        10800,
        4 * 911,
    ),
    "conv2d, groups do not fit": (
        call("convolution", [[2, 4, 8, 8], [6, 4, 3, 3], [], *NONE], "float", CONV | {8: "2"}),
        None,
        None,
    ),
    "conv2d, kernel does not fit": (
        call("convolution", [[1, 1, 2, 2], [1, 1, 5, 5], [], *NONE], "float", CONV | {4: "[0, 0]"}),
        None,
        None,
    ),
    "conv2d without values": (
        call("convolution", [[2, 4, 8, 8], [6, 4, 3, 3], [], *NONE], "float"),
        None,
        None,
    ),
    "conv2d without a stride": (
        call("convolution", [[2, 4, 8, 8], [6, 4, 3, 3], [], *NONE], "float", CONV | {3: ""}),
        None,
        None,
    ),
    "conv2d, no number of groups": (
        call("convolution", [[2, 4, 8, 8], [6, 4, 3, 3], [], *NONE], "float", CONV | {8: ""}),
        None,
        None,
    ),
    "backward": (
        call(
            "convolution_backward",
            [[2, 6, 8, 8], [2, 4, 8, 8], [6, 4, 3, 3], *NONE, [], []],
            "float",
            BACK | {10: "[True, True, True]"},
        ),
        2 * 55296,
        4 * (768 + 216 + 512 + 512 + 216 + 6),
    ),
    "backward to the weight": (
        call(
            "convolution_backward",
            [[2, 6, 8, 8], [2, 4, 8, 8], [6, 4, 3, 3], *NONE, [], []],
            "float",
            BACK | {10: "[False, True, False]"},
        ),
        55296,
        4 * (768 + 512 + 216),
    ),
    "backward to the bias": (
        call(
            "convolution_backward",
            [[2, 6, 8, 8], [2, 4, 8, 8], [6, 4, 3, 3], *NONE, [], []],
            "float",
            BACK | {10: "[False, False, True]"},
        ),
        0,
        4 * (768 + 6),
    ),
    "backward, groups": (
        call(
            "convolution_backward",
            [[2, 6, 4, 4], [2, 4, 8, 8], [6, 2, 3, 3], *NONE, [], []],
            "float",
            BACK | {4: "[2, 2]", 9: "2", 10: "[True, True, False]"},
        ),
        2 * 6912,
        4 * (192 + 108 + 512 + 512 + 108),
    ),
    "backward, transposed": (
        call(
            "convolution_backward",
            [[2, 3, 10, 10], [2, 4, 5, 5], [4, 3, 3, 3], *NONE, [], []],
            "float",
            BACK | {4: "[2, 2]", 7: "True", 8: "[1, 1]", 10: "[True, False, False]"},
        ),
        10800,
        4 * (600 + 108 + 200),
    ),
}
