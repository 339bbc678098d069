"""FLOPs and bytes of operators, the roofline and MFU, on small tables."""

import json
import random
from itertools import product

import duckdb
import pytest
from queries import brute_flops
from queries.small_tables import completed
from seeds import seeds

A100 = [{"device_name": "NVIDIA A100-SXM4-40GB"}]


def call(name, dims, types=None, texts=None, **more):
    """A row of host_ops; of types one stands for all, texts only where they are not empty."""
    if isinstance(types, str):
        types = [types if sizes else "" for sizes in dims]
    values = [""] * len(dims)
    for at, text in (texts or {}).items():
        values[at] = text
    return {
        "name": f"aten::{name}",
        "start_ns": 0,
        "dur_ns": 9,
        "input_dims": json.dumps(dims),
        "input_types": types and json.dumps(types),
        "concrete_inputs": json.dumps(values),
    } | more


def costs(host, rows):
    """(flops, bytes) of each call, None where it has no row; each is an operator of its own."""
    host.fill(host_ops=[row | {"rank": at} for at, row in enumerate(rows)])
    found = {row["rank"]: row for row in host.run("op_flops")}
    assert host.broken_promises("op_flops") == []
    return [found.get(at) and (found[at]["flops"], found[at]["bytes"]) for at in range(len(rows))]


BF16, HALF, FP8 = "c10::BFloat16", "c10::Half", "c10::Float8_e4m3fn"
CONV = {3: "[1, 1]", 4: "[1, 1]", 5: "[1, 1]", 6: "False", 7: "[0, 0]", 8: "1"}
BACK = {4: "[1, 1]", 5: "[1, 1]", 6: "[1, 1]", 7: "False", 8: "[0, 0]", 9: "1"}
NONE = [[]] * 6

GOLDEN = {
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
    "add": (call("add", [[8, 1, 32], [5, 1], []], "float"), None, 4 * (256 + 5 + 8 * 5 * 32)),
    "add_": (call("add_", [[8, 32], [32], []], "float"), None, 4 * (256 + 32 + 256)),
    "add a number": (call("add", [[8], [], []], ["float", "Scalar", "Scalar"]), None, 4 * 16),
    "add a double without dimension": (call("mul", [[8], []], [BF16, "double"]), None, 2 * 16 + 8),
    "add of two types": (call("mul", [[8], [8]], [BF16, "float"]), None, None),
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
        None,
    ),
    "sum of integers": (call("sum", [[8], []], ["int", ""]), None, 4 * 8 + 8),
    "amax": (call("amax", [[8, 4], [], []], "float", {1: "[0]"}), None, 4 * (32 + 4)),
    "softmax": (call("_softmax", [[8, 4], [], []], BF16), None, 2 * 64),
}


def test_each_operator(host):
    found = costs(host, [row for row, _, _ in GOLDEN.values()])
    wanted = [
        (flops, size) if (flops, size) != (None, None) else None
        for _, flops, size in GOLDEN.values()
    ]
    assert dict(zip(GOLDEN, found, strict=True)) == dict(zip(GOLDEN, wanted, strict=True))


def test_the_brute_force_knows_them_too():
    for said, (row, flops, size) in GOLDEN.items():
        if said.endswith("until 2.4"):
            continue
        found = brute_flops.cost(
            row["name"], row["input_dims"], row["input_types"], row["concrete_inputs"]
        )
        assert (found and (found.flops, found.bytes)) == (
            None if flops is size is None else (flops, size)
        ), said


MALFORMED = [
    "",
    "nonsense",
    "[]",
    "{}",
    "[[2,3]",
    "[[2,3],[3,4.5]]",
    "[[2,null],[3,4]]",
    "null",
    "[[[2,3],[3,4]],[3,4]]",
    '[["2"],["x"]]',
    "[[99999999999999999999,3],[3,4]]",
]


@pytest.mark.parametrize(
    "name",
    [
        "mm",
        "convolution",
        "scaled_dot_product_attention",
        "add",
        "sum",
        "convolution_backward",
        "linear",
        "_scaled_mm",
    ],
)
def test_odd_shapes_are_no_error(host, name):
    rows = [
        call(name, []) | {"input_dims": dims, "input_types": types, "concrete_inputs": texts}
        for dims in MALFORMED
        for types in ("[]", '["float"]', "x", None)
        for texts in ('["[1, x]"]', "", None)
    ]
    if name not in ("add", "sum"):
        assert set(costs(host, rows)) == {None}
    else:
        costs(host, rows)


# Counted one by one.


def multiplications(x, w, stride, padding, dilation, groups, transposed):
    """Of a convolution: each meeting of an input (padding too) with a weight."""
    spatial = range(2, len(x))
    if transposed:
        spots = [range(x[i]) for i in spatial]
        channels = w[0], w[1]
    else:
        spots = [
            [
                at
                for at in range(-padding, x[i] + padding, stride)
                if at + dilation * (w[i] - 1) < x[i] + padding
            ]
            for i in spatial
        ]
        channels = w[0], x[1] // groups
    return sum(
        1
        for _ in product(
            range(x[0]), *map(range, channels), *spots, *(range(w[i]) for i in spatial)
        )
    )


@pytest.mark.parametrize("seed", seeds(3))
def test_convolutions_counted_one_by_one(host, seed):
    rng = random.Random(seed)
    rows, counted = [], []
    while len(rows) < 40:
        count, groups = rng.choice([1, 2, 3]), rng.choice([1, 2])
        transposed = rng.random() < 0.4
        stride, padding, dilation = rng.choice([1, 2, 3]), rng.choice([0, 1]), rng.choice([1, 2])
        x = [
            rng.choice([1, 2]),
            groups * rng.choice([1, 2]),
            *(rng.randint(2, 6) for _ in range(count)),
        ]
        out = groups * rng.choice([1, 2])
        first, second = (x[1], out // groups) if transposed else (out, x[1] // groups)
        w = [first, second, *(rng.randint(1, 3) for _ in range(count))]
        if any(x[i] + 2 * padding <= dilation * (w[i] - 1) for i in range(2, len(x))):
            continue
        if transposed and any(
            (x[i] - 1) * stride + dilation * (w[i] - 1) < 2 * padding for i in range(2, len(x))
        ):
            continue
        values = [f"[{', '.join([str(v)] * count)}]" for v in (stride, padding, dilation, 0)]
        rows.append(
            call(
                "convolution",
                [x, w, [], *NONE],
                "float",
                {
                    3: values[0],
                    4: values[1],
                    5: values[2],
                    6: str(transposed),
                    7: values[3],
                    8: str(groups),
                },
            )
        )
        counted.append(2 * multiplications(x, w, stride, padding, dilation, groups, transposed))
    assert [found and found[0] for found in costs(host, rows)] == counted


def test_attention_counted_one_by_one(host):
    rows, counted = [], []
    for queries, keys, name in product(range(1, 6), range(1, 6), ("top", "bottom", "none")):
        rows.append(
            call(
                "_efficient_attention_forward",
                [[2, queries, 4, 3], [2, keys, 2, 3], [2, keys, 2, 5], *[[]] * 11],
                "float",
                {9: {"none": "0", "top": "1", "bottom": "2"}[name]},
            )
        )
        met = sum(
            name == "none" or key <= query + (keys - queries if name == "bottom" else 0)
            for query in range(queries)
            for key in range(keys)
        )
        counted.append(2 * 2 * 4 * met * (3 + 5))
    assert [found and found[0] for found in costs(host, rows)] == counted


# Rows of the result.

MM = '[[2,3],[3,4]] ["float","float"] ["",""]'
LINEAR = '[[2,3],[4,3]] ["float","float"] ["",""]'
ADD = '[[8],[8],[]] ["float","float","Scalar"] ["","","1"]'
COPY = '[[2,4],[2,4],[]] ["float","float","Scalar"] ["","","False"]'
OPS = "event_id op_id name step start_ns dur_ns input_dims input_types concrete_inputs\n"


def test_nested_operators_count_once(host):
    # linear  [==========================)        not counted
    # t        [=)                                unknown
    # addmm       [================)              counted, as mm here
    # copy_         [===)                         the addmm's
    # copy_                         [==)          counted: the linear does not
    # launch          1      2       3
    host.expect(
        "op_flops",
        """
        name          is_counted  count  flops  kernel_count  kernel_ns
        aten::linear  false       1      48     3             35
        aten::mm      true        1      48     2             30
        aten::copy_   false       1      -      1             10
        aten::copy_   true        1      -      1             5
        """,
        ops=OPS
        + f"""
            1  -  aten::linear  -  0  100  {LINEAR}
            2  1  aten::t       -  1  5    -  -  -
            3  1  aten::mm      -  10 50   {MM}
            4  3  aten::copy_   -  12 9    {COPY}
            5  1  aten::copy_   -  70 9    {COPY}
        """,
        activities="""
            op_id start_ns dur_ns
            4     100      10
            3     110      20
            5     130      5
        """,
    )


def test_through_operators_of_unknown_cost(host):
    # linear > matmul > expand > mm: what is between does not hide the mm from the linear.
    host.expect(
        "op_flops",
        """
        name          is_counted  count  flops  kernel_ns
        aten::linear  false       1      48     27
        aten::mm      true        1      48     20
        """,
        ops=OPS
        + f"""
            1  -  aten::linear  -  0  100  {LINEAR}
            2  1  aten::matmul  -  1  90   -  -  -
            3  2  aten::expand  -  2  80   -  -  -
            4  3  aten::mm      -  10 50   {MM}
        """,
        activities="""
            op_id start_ns dur_ns
            4     100      20
            2     130      7
        """,
    )


def test_roofline(host):
    # mm: 48 operations, 104 bytes. At 2 GB/s, 52 ns; at 1e-3 TFLOP/s = 1 a ns, 48 ns. Two of the
    # three calls launched, in 80 ns together.
    ops = (
        OPS
        + f"""
        1  -  aten::mm  -  0   9  {MM}
        2  -  aten::mm  -  10  9  {MM}
        3  -  aten::mm  -  20  9  {MM}
        4  -  aten::add -  30  9  {ADD}
    """
    )
    activities = "op_id start_ns dur_ns\n1 100 50\n2 200 30\n4 300 96"
    columns = """
        name  count  launching_call_count  flops  bytes  achieved_tflops  achieved_gbps
        arithmetic_intensity  bound  roofline_frac
    """.split()

    def expect(rows, **parameters):
        text = " ".join(columns) + "\n" + "\n".join(rows)
        host.expect("op_flops", "\n" + text, ops=ops, activities=activities, **parameters)

    expect(
        [
            "aten::add  1 1 -   96  -      1.0 -                  memory  0.5",
            f"aten::mm  3 2 144 312 0.0012 2.6 {48 / 104} memory {2 * 52 / 80}",
        ],
        peak_tflops=0.001,
        peak_gbps=2.0,
    )
    expect(
        [
            "aten::add  1 1 -   96  -      1.0 -                  memory  0.25",
            f"aten::mm  3 2 144 312 0.0012 2.6 {48 / 104} compute {2 * 48 / 80}",
        ],
        peak_tflops=0.001,
        peak_gbps=4.0,
    )
    # Neither is known.
    expect(
        [
            "aten::add  1 1 -   96  -      1.0 -                  memory  -",
            f"aten::mm  3 2 144 312 0.0012 2.6 {48 / 104} - -",
        ]
    )
    expect(
        [
            "aten::add  1 1 -   96  -      1.0 -                  memory  -",
            f"aten::mm  3 2 144 312 0.0012 2.6 {48 / 104} - -",
        ],
        peak_tflops=0.001,
    )


def test_peaks_by_device_and_kernels(host):
    def rows(device, kernel):
        dims = [[4096, 4096], [4096, 4096]]
        host.fill(
            host_ops=[call("mm", dims, "float", event_id=1)],
            gpu_activities=[{"op_id": 1, "start_ns": 10, "dur_ns": 10**7, "name": kernel}],
            traces=[{"device_name": device}],
        )
        [row] = host.run("op_flops")
        return row["dtype"], row["roofline_frac"], row["bound"]

    flops = 2 * 4096**3
    assert rows("NVIDIA A100-SXM4-40GB", "ampere_sgemm_128x64_tn") == (
        "float32",
        pytest.approx(flops / 19.5e12 / 1e-2),
        "compute",
    )
    assert rows("NVIDIA A100-SXM4-40GB", "cutlass_80_tensorop_s1688gemm_128x128") == (
        "tf32",
        pytest.approx(flops / 156e12 / 1e-2),
        "compute",
    )
    assert rows("Tesla V100-SXM2-16GB", "volta_sgemm_128x64_tn") == (
        "float32",
        pytest.approx(flops / 15.7e12 / 1e-2),
        "compute",
    )
    # AMD's matrix cores know float32.
    assert rows("AMD Instinct MI300X", "Cijk_Ailk_Bljk_SB_MT128x128x16_MI32x32x1") == (
        "float32",
        pytest.approx(flops / 163.4e12 / 1e-2),
        "compute",
    )
    for unknown in ("AMD Radeon Graphics", "NVIDIA A100-SXM4-40GB MIG 1g.5gb", "ARTEMIS", None):
        assert rows(unknown, "gemm") == ("float32", None, None)


def test_peaks_are_plausible(host):
    rows = host.con.execute("FROM device_peaks").fetchall()
    by_device = {}
    for device, dtype, tflops, gbps, reference in rows:
        assert 0 < tflops < 10_000 and 100 < gbps < 10_000 and reference
        assert dtype not in by_device.setdefault(device, {})
        by_device[device][dtype] = tflops
    for device, peaks in by_device.items():
        assert peaks["float32"] <= peaks["float16"], device
        assert peaks.get("bfloat16", peaks["float16"]) == peaks["float16"], device
        assert peaks["float32"] <= peaks.get("tf32", peaks["float32"]) <= peaks["float16"], device
    assert by_device["NVIDIA H100 80GB HBM3"]["bfloat16"] == 989.4  # 1978.9 is with sparsity
    assert by_device["NVIDIA A100-PG509-200"] == by_device["NVIDIA A100-SXM4-40GB"]


def test_view_of_peaks_can_be_replaced(host):
    [(was,)] = host.con.execute(
        "SELECT sql FROM duckdb_views() WHERE view_name = 'device_peaks'"
    ).fetchall()
    host.fill(
        host_ops=[call("mm", [[64, 64], [64, 64]], BF16, event_id=1)],
        gpu_activities=[{"op_id": 1, "start_ns": 10, "dur_ns": 100}],
        traces=[{"device_name": "mine"}],
    )
    assert host.run("op_flops")[0]["roofline_frac"] is None
    host.con.execute("""
        CREATE OR REPLACE VIEW device_peaks AS
        SELECT 'mine' AS device_name, 'bfloat16' AS dtype, 1.0::DOUBLE AS dense_tflops,
            100000.0::DOUBLE AS memory_gbps, 'me' AS reference
    """)
    try:
        assert host.run("op_flops")[0]["roofline_frac"] == 2 * 64**3 / 1e3 / 100
    finally:
        host.con.execute(was.replace("CREATE VIEW", "CREATE OR REPLACE VIEW"))


def test_estimated(host):
    packed = call(
        "_flash_attention_forward",
        [[10, 4, 8]] * 3 + [[4], [4], *[[]] * 10],
        BF16,
        {5: "5", 6: "5", 8: "False"},
        event_id=1,
    )
    window = call(
        "_flash_attention_forward",
        [[1, 10, 4, 8]] * 3 + [[]] * 12,
        BF16,
        {8: "False", 11: "3", 12: "0"},
        event_id=2,
    )
    host.fill(
        host_ops=[packed, window],
        traces=A100,
        gpu_activities=[{"op_id": at, "start_ns": 10, "dur_ns": 100} for at in (1, 2)],
    )
    found = {row["is_estimated"]: row["flops"] for row in host.run("op_flops")}
    assert [row["is_estimated"] for row in host.run("op_flops")] == [True, True]
    assert found == {True: 2 * 4 * 100 * 16} or {6400, 12800} == {
        row["flops"] for row in host.run("op_flops")
    }
    # No guess in MFU: they explain nothing there.
    [row] = host.run("step_mfu")
    assert (row["flops"], row["modelled_ns"], row["mfu_frac"]) == (0, 0, None)


def test_steps_are_selected_first(host):
    ops = (
        OPS
        + f"""
        1  -  aten::mm  1  0   9  {MM}
        2  -  aten::mm  2  10  9  {MM}
        3  -  aten::mm  -  20  9  {MM}
    """
    )
    activities = "op_id step start_ns dur_ns\n1 1 100 10\n2 2 110 20\n3 - 130 40"
    for given, count, ns in (
        ({}, 3, 70),
        ({"only_steps": [2]}, 1, 20),
        ({"only_steps": [1, 2]}, 2, 30),
    ):
        host.expect(
            "op_flops", f"\ncount kernel_ns\n{count} {ns}", ops=ops, activities=activities, **given
        )


# MFU.

STEPS = """event_id op_id name cat step start_ns dur_ns input_dims input_types concrete_inputs
           100 - ProfilerStep#1 user_annotation 1 0   100 - - -
           101 - ProfilerStep#2 user_annotation 2 100 200 - - -
"""
HALVES = '[[20,30],[30,40]] ["c10::Half","c10::Half"] ["",""]'  # 48000 operations


def test_mfu(host):
    # 48000 operations in half precision and as many in float, at 1e-3 TFLOP/s, one a ns.
    floats = HALVES.replace("c10::Half", "float")
    host.expect(
        "step_mfu",
        """
        step  time_ns  computation_ns  modelled_ns  coverage_frac  flops  achieved_tflops  mfu_frac
        1     100      80              60           0.75           96000  0.96             0.96
        2     200      50              0            0.0            0      0.0              -
        """,
        ops=STEPS
        + f"""
            1  -  aten::mm  cpu_op  1  0   9  {HALVES}
            2  -  aten::mm  cpu_op  1  10  9  {floats}
            3  -  aten::add cpu_op  1  20  9  {ADD}
            4  -  aten::mm  cpu_op  1  30  9  {HALVES}
        """,
        activities="""
            op_id step kind          start_ns dur_ns
            1     1    computation   50       20
            2     1    computation   70       40
            3     1    computation   120      20
            -     1    communication 140      99
            -     2    computation   150      50
        """,
        peak_tflops=1.0,
    )


def test_mfu_of_each_format_at_its_own_peak(host):
    size = 4096
    floats = call("mm", [[size, size], [size, size]], "float", event_id=1)
    halves = call("mm", [[size, size], [size, size]], HALF, event_id=2)
    longs = call("mm", [[2, 2], [2, 2]], "long", event_id=3)
    activities = [{"op_id": at, "start_ns": 0, "dur_ns": 10**7} for at in (1, 2, 3)]
    host.fill(host_ops=[floats, halves], gpu_activities=activities[:2], traces=A100)
    [row] = host.run("step_mfu")
    assert row["step"] is None  # no steps: over the device's span
    assert row["mfu_frac"] == pytest.approx(2 * size**3 * (1 / 19.5e12 + 1 / 312e12) / 1e-2)
    # There is no peak for long: then there is no figure.
    host.fill(host_ops=[floats, halves, longs], gpu_activities=activities, traces=A100)
    assert host.run("step_mfu")[0]["mfu_frac"] is None
    host.fill(host_ops=[floats], gpu_activities=activities[:1], traces=[{"device_name": "?"}])
    assert host.run("step_mfu")[0]["mfu_frac"] is None


def test_operations_run_once_more(host):
    # In a backward pass: a linear that records an autograd node, as a forward pass does, with its
    # addmm (here mm); and an mm of the gradient, which records none.
    host.expect(
        "step_mfu",
        """
        device  step  flops  recomputed_flops  mfu_frac  hfu_frac
        0       -     96000  48000             0.96      1.44
        """,
        ops="event_id op_id name is_backward sequence_number fwd_thread_id start_ns dur_ns "
        "input_dims input_types concrete_inputs\n"
        + f"""
            1 - aten::mm              false 5 0 0   9  {HALVES}
            2 - AddmmBackward0        true  5 1 10  90 - - -
            3 2 aten::linear          true  7 0 20  30 {HALVES.replace("30,40", "40,30")}
            4 3 aten::mm              true  - - 30  10 {HALVES}
            5 2 aten::mm              true  - - 60  10 {HALVES}
        """,
        activities="op_id start_ns dur_ns\n1 0 20\n4 20 40\n5 60 40",
        peak_tflops=1.0,
    )


def test_outside_steps_is_left_out(host):
    host.expect(
        "step_mfu",
        """
        rank  device  step  time_ns  flops
        0     0       1     100      48000
        0     1       1     100      0
        """,
        ops=STEPS
        + f"""
            1  -  aten::mm  cpu_op  1  0   9  {HALVES}
            2  -  aten::mm  cpu_op  -  500 9  {HALVES}
        """,
        activities="""
            op_id device step start_ns dur_ns
            1     1      1    60       10
            1     0      1    50       20
            2     0      -    600      20
        """,
        peak_tflops=1.0,
    )


# Against plain Python.

SHAPES = [
    call("mm", [[2, 3], [3, 4]], "float"),
    call("mm", [[20, 30], [30, 4]], HALF),
    call("mm", [[2, 3], [5, 4]], "float"),
    call("mm", [[2, 2], [2, 2]], "long"),
    call("addmm", [[4], [2, 3], [3, 4], [], []], "float"),
    call("linear", [[2, 3], [4, 3], [4]], "float"),
    call("linear", [[2, 3], [4, 3], [4]], BF16),
    call("copy_", [[8], [8], []], "float"),
    call("add", [[8], [8], []], "float"),
    call("add", [[8], [8], []], "float", {2: "1"}),
    call("sum", [[8, 4], []], "float"),
    GOLDEN["conv2d"][0],
    GOLDEN["attention"][0],
    GOLDEN["flash backward"][0],
    GOLDEN["attention, is_causal unknown"][0],
    call(
        "_flash_attention_forward",
        [[10, 4, 8]] * 3 + [[4], [4], *[[]] * 10],
        BF16,
        {5: "5", 6: "5", 8: "False"},
    ),
    *(
        {"name": name, "input_dims": None, "input_types": None, "concrete_inputs": None}
        for name in ("aten::t", "aten::matmul", "AddmmBackward0", "aten::mm")
    ),
]
KERNELS = ["gemm", "cutlass_80_tensorop_s1688gemm", "add", None]


def random_tables(rng):
    ops, activities, traces = [], [], []
    for number in range(12):
        job = f"job{number}"
        ranks = rng.choice([[0], [0, 1]])
        for rank in ranks:
            if rng.random() < 0.8:
                traces.append(
                    {
                        "job": job,
                        "rank": rank,
                        "device_name": rng.choice(
                            ["NVIDIA A100-SXM4-40GB", "NVIDIA A100-SXM4-40GB", "other", None]
                        ),
                    }
                )
            if rng.random() < 0.6:
                ops += [
                    {
                        "job": job,
                        "rank": rank,
                        "event_id": 1000 + step,
                        "step": step,
                        "name": f"ProfilerStep#{step}",
                        "cat": "user_annotation",
                        "start_ns": 100 * step,
                        "dur_ns": rng.choice([0, 80, 100]),
                    }
                    for step in rng.sample([1, 2], rng.choice([1, 2]))
                ]
            mine = []
            for event_id in range(rng.choice([0, 3, 12, 30])):
                backward = rng.random() < 0.4
                mine.append(
                    dict(rng.choice(SHAPES))
                    | {
                        "job": job,
                        "rank": rank,
                        "event_id": event_id,
                        "cat": rng.choice(["cpu_op"] * 4 + ["Operator", "user_annotation"]),
                        "op_id": rng.choice([None, *(row["event_id"] for row in mine[-4:])]),
                        "step": rng.choice([None, 1, 2]),
                        "start_ns": rng.randint(0, 300),
                        "dur_ns": rng.randint(0, 30),
                        "is_backward": backward,
                        "sequence_number": rng.choice([None, 5, 5, -1]),
                        "fwd_thread_id": rng.choice([None, 0, 0, 1]),
                    }
                )
            ops += mine
            for _ in range(rng.choice([0, 5, 60])):
                activities.append(
                    {
                        "job": job,
                        "rank": rank,
                        "device": rng.choice([0, 0, 0, 0, 1, None]),
                        "step": rng.choice([None, 1, 2]),
                        "kind": rng.choice(["computation"] * 3 + ["communication", "memory"]),
                        "name": rng.choice(KERNELS),
                        "start_ns": rng.randint(0, 400),
                        "dur_ns": rng.choice([0, 10, 30]),
                        "op_id": rng.choice([None, 77, *(row["event_id"] for row in mine)]),
                    }
                )
    return {
        "gpu_activities": [
            completed("gpu_activities", row | {"short_name": "k"}, at)
            for at, row in enumerate(activities)
        ],
        "host_ops": [
            completed(
                "host_ops",
                {
                    "op_id": None,
                    "step": None,
                    "is_backward": False,
                    "sequence_number": None,
                    "fwd_thread_id": None,
                    "input_dims": None,
                    "input_types": None,
                    "concrete_inputs": None,
                }
                | row,
                at,
            )
            for at, row in enumerate(ops)
        ],
        "traces": [completed("traces", row, at) for at, row in enumerate(traces)],
    }


def random_parameters(rng):
    given = {
        "only_jobs": [f"job{number}" for number in rng.sample(range(12), 8)],
        "only_ranks": rng.choice([[0], [1]]),
        "only_steps": rng.choice([[1], [2], [1, 2], []]),
        "peak_tflops": rng.choice([0.5, 0.0005]),
    }
    return {name: value for name, value in given.items() if rng.random() < 0.4}


SEEDS = range(3)


@pytest.mark.parametrize("seed", seeds(SEEDS))
def test_random_jobs(host, seed):
    rng = random.Random(seed)
    tables = random_tables(rng)
    rows = tables["gpu_activities"], tables["host_ops"], tables["traces"]
    for given in ({}, random_parameters(rng)):
        host.compare("step_mfu", brute_flops.step_mfu(*rows, **given), tables, seed, **given)
        if rng.random() < 0.5:
            given = given | {"peak_gbps": 3.0}
        host.compare("op_flops", brute_flops.op_flops(*rows, **given), tables, seed, **given)


def test_random_jobs_are_worth_it():
    """Every case that the queries have to tell apart comes up."""
    flops, mfu = [], []
    for seed in SEEDS:
        tables = random_tables(random.Random(seed))
        rows = tables["gpu_activities"], tables["host_ops"], tables["traces"]
        flops += brute_flops.op_flops(*rows)
        flops += brute_flops.op_flops(*rows, peak_tflops=0.0005, peak_gbps=3.0)
        mfu += brute_flops.step_mfu(*rows) + brute_flops.step_mfu(*rows, peak_tflops=0.5)
    seen = {(row["family"], row["is_counted"]) for row in flops}
    assert seen >= set(
        product(
            ("matrix product", "convolution", "attention", "attention backward", "elementwise"),
            (True, False),
        )
    )
    assert {row["dtype"] for row in flops} >= {"float32", "tf32", "bfloat16", None}
    assert {row["bound"] for row in flops} == {"compute", "memory", None}
    assert {row["is_estimated"] for row in flops} == {True, False}
    assert any(row["launching_call_count"] < row["count"] for row in flops)
    assert any(row["count"] > 1 for row in flops)
    assert any(row["kernel_count"] and not row["kernel_ns"] for row in flops)
    assert any(row["hfu_frac"] and row["hfu_frac"] > row["mfu_frac"] > 0 for row in mfu)
    assert any(row["mfu_frac"] is None and row["flops"] for row in mfu)
    assert {row["step"] for row in mfu} == {None, 1, 2}
    assert {row["device"] for row in mfu} == {None, 0, 1}
    assert any(row["coverage_frac"] and row["coverage_frac"] < 1 for row in mfu)


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ("op_flops", "peak_tflops"),
        ("op_flops", "peak_gbps"),
        ("step_mfu", "peak_tflops"),
        ("memory_timeline", "bucket_ns"),
    ],
)
@pytest.mark.parametrize("value", [0, -5])
def test_nothing_is_no_measure(host, query, parameter, value):
    host.fill()
    with pytest.raises(duckdb.InvalidInputException, match=f"{query}: {parameter} is above 0"):
        host.run(query, **{parameter: value})


def test_kernels_of_a_call_count_whatever_step_they_are_of(host):
    """As in op_stats: the call is of the step in which it begins."""
    host.expect(
        "op_flops",
        """
        name      count  kernel_count  kernel_ns  flops
        aten::mm  1      2             7000       48
        """,
        ops="""
        event_id  name      start_ns  dur_ns  step  input_dims     input_types
        1         aten::mm  50        100     1     [[2,3],[3,4]]  ["float","float"]
        """,
        activities="""
        event_id  start_ns  dur_ns  op_id  step
        8         60        3000    1      1
        9         120       4000    1      2
        """,
        only_steps=[1],
    )
