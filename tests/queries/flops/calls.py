"""Calls of operators, and what the query says of them."""

import json

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


ADD = '[[8],[8],[]] ["float","float","Scalar"] ["","","1"]'
