"""Made-up jobs with a fault of what the device computes or copies: what is in their traces."""

from collections import Counter

import pytest
from made_jobs.planted import dur

STEPS, LAYERS = 3, 2


def mean_ns(kernels):
    return sum(map(dur, kernels)) / len(kernels)


def test_full_precision(planted):
    ranks, [fault] = planted("full_precision")
    for rank, healthy in zip(ranks, planted()[0], strict=True):
        slow = [kernel for kernel in rank.kernels if kernel["name"] == fault["kernel"]]
        # A layer's three products of one linear operator.
        assert len(slow) == STEPS * 3
        ops = [rank.op(kernel) for kernel in slow]
        assert {"float", "c10::BFloat16"} == {
            kind for op in rank.ops for kind in op["args"].get("Input type", []) if kind in TYPES
        }
        assert all("c10::BFloat16" not in op["args"]["Input type"] for op in ops)
        same = [
            kernel
            for kernel in healthy.kernels
            if healthy.op(kernel)["args"].get("Input Dims") == ops[0]["args"]["Input Dims"]
        ]
        # Of 67 TFLOP/s in FP32, and 989 in bfloat16.
        assert 8 * mean_ns(same) < mean_ns(slow) < 15 * mean_ns(same)


TYPES = ("float", "c10::BFloat16")


def test_far_from_roofline(planted):
    ranks, [fault] = planted("far_from_roofline")
    for rank in ranks:
        slow = [kernel for kernel in rank.kernels if kernel["name"] == fault["kernel"]]
        assert len(slow) >= STEPS * LAYERS
        for kernel in slow:
            [[rows, inner], [same, columns]] = rank.op(kernel)["args"]["Input Dims"]
            assert inner == same and inner % 8
            # 989 TFLOP/s is the peak of an H100.
            assert 2 * rows * inner * columns / dur(kernel) == pytest.approx(
                0.12 * 989_000, rel=0.03
            )


def test_unfused_elementwise(planted):
    ranks, _ = planted("unfused_elementwise")
    for rank in ranks:
        pointwise = {"aten::mul", "aten::add", "aten::tanh", "aten::sigmoid"}
        ops = sorted(rank.ops, key=lambda op: op["start"])
        ops = [op for op in ops if op["name"] != "aten::empty"]
        chains, length = [], 0
        for op in ops:
            fits = op["name"] in pointwise and op["args"]["Input Dims"][0] == [1024, 16384]
            if not fits and length:
                chains.append(length)
            length = length + 1 if fits else 0
        assert len(chains) == STEPS * LAYERS
        assert all(chain % 8 == 0 and chain >= 8 for chain in chains)


def test_unfused_optimizer(planted):
    ranks, [fault] = planted("unfused_optimizer")
    for rank in ranks:
        assert not [op for op in rank.ops if op["name"] == "aten::_fused_adamw_"]
        for step in rank.named(fault["annotation"]):
            if step["cat"] != "user_annotation":
                continue
            ops = {op["args"]["External id"]: op["name"] for op in rank.inside(step, rank.ops)}
            kernels = [k for k in rank.kernels if k["args"]["External id"] in ops]
            assert len(kernels) == len(ops) > 200
            assert mean_ns(kernels) < 10_000
            assert {"aten::addcmul_", "aten::sqrt", "aten::addcdiv_"} < set(ops.values())


def test_pageable_copies(planted):
    def to_device(rank):
        copies = [a for a in rank.activities if a["name"].startswith("Memcpy HtoD")]
        return [a for a in copies if "Pageable" in a["name"]], copies

    ranks, [fault] = planted("pageable_copies")
    for rank, healthy in zip(ranks, planted()[0], strict=True):
        pageable, _ = to_device(rank)
        assert len(pageable) == STEPS
        for copy in pageable:
            size = copy["args"]["bytes"]
            assert copy["name"] == fault["copy"]
            assert size > 10_000_000 and size / dur(copy) == pytest.approx(5, rel=0.05)
            # The host waits for it, and nothing hides it.
            assert rank.launch(copy)["end"] > copy["end"]
            others = [a for a in rank.activities if a is not copy]
            assert not [o for o in others if o["start"] < copy["end"] and copy["start"] < o["end"]]
        none, copies = to_device(healthy)
        assert none == [] and all(copy["args"]["bytes"] < 10_000 for copy in copies)


def test_layout_copies(planted):
    ranks, [fault] = planted("layout_copies")
    for rank in ranks:
        outer = rank.named(fault["operator"])
        assert len(outer) > STEPS * LAYERS
        for op in outer:
            inside = rank.inside(op, rank.ops)
            assert {"aten::clone", "aten::copy_"} < {each["name"] for each in inside}
        kernels = [k for k in rank.kernels if rank.op(k)["name"] == "aten::copy_"]
        assert len(kernels) == len(outer) and mean_ns(kernels) > 100_000


def test_recompute(planted):
    ranks, [fault] = planted("recompute")
    for rank, healthy in zip(ranks, planted()[0], strict=True):
        forward = Counter(op["name"] for op in healthy.ops if op["args"].get("Fwd thread id") == 0)
        frames = rank.named(fault["python_function"])
        assert len(frames) == STEPS * LAYERS
        assert {frame["tid"] for frame in frames} != {rank.steps[0]["tid"]}
        again = Counter()
        for frame in frames:
            ops = [op for op in rank.inside(frame, rank.ops) if "Sequence number" in op["args"]]
            assert {op["args"]["Fwd thread id"] for op in ops} == {0}
            again.update(op["name"] for op in ops)
        # All of the layers, not what is around them.
        once = {"aten::embedding", "aten::cross_entropy_loss"}
        assert set(forward) - set(again) == once
        assert forward["aten::linear"] - again["aten::linear"] == STEPS
        assert forward["aten::gelu"] == again["aten::gelu"] == STEPS * LAYERS
