"""Other shapes, other kernels on the same shapes."""

from dataclasses import replace

import pytest
from queries.diff_causes.made import (
    BASE,
    LINEAR,
    MM,
    NORM,
    OTHER,
    RELU,
    RESHAPED,
    Made,
    Op,
    causes,
    columns,
    named,
    op,
    reshaped,
    step,
)


def test_other_shapes(small):
    """Only the outermost one is named: not what it calls, its backward pass, or slower kernels."""
    rows = causes(small, Made("a", BASE), Made("b", step(RESHAPED, RELU, NORM)))
    assert columns(rows, "cause", "name", "inside", "base_detail", "test_detail") == [
        ("shapes", "aten::linear", "block", "[[8,8]]", OTHER)
    ]
    assert columns(rows, "base_calls", "test_calls", "time_of", "diff_ratio", "diff_frac") == [
        (3, 3, "gpu", None, 1)
    ]
    assert rows[0]["diff_per_step_ns"] == pytest.approx(3 * 3 * 50_000, rel=0.05)


def test_other_shapes_and_a_gradient_of_the_same_shape(small):
    """As where only what is summed over is longer."""
    test = step(reshaped("[[8,8]]"), RELU, NORM)
    assert named(causes(small, Made("a", BASE), Made("b", test))) == [("shapes", "aten::linear")]


@pytest.mark.parametrize("levels", [1, 2])
def test_other_shapes_below_operators_that_have_none(small, levels):
    """As of those that are given a size instead of a tensor."""

    def program(dims):
        inner = replace(MM, dims=dims)
        for level in range(levels):
            inner = op(f"level {level}", inner)
        return [op("block", replace(LINEAR, dims=dims, inside=(inner,), backward=None), RELU)] * 3

    rows = causes(small, Made("a", program("[[8,8]]")), Made("b", program(OTHER)))
    assert named(rows) == [("shapes", "aten::linear")]


def test_other_shapes_in_an_operator_of_the_same_name(small):
    """The outer one's are the same."""

    def program(dims):
        inner = op("aten::mul", dims=dims, kernels=(("mul", 20_000),))
        return [op("block", op("aten::mul", inner), RELU)] * 3

    rows = causes(small, Made("a", program("[[8,8]]")), Made("b", program(OTHER)))
    assert columns(rows, "cause", "name", "inside") == [("shapes", "aten::mul", "aten::mul")]


def test_other_shapes_of_some_calls(small):
    """Those that both have, just as often, are not told of."""
    base = [op("block", LINEAR, replace(LINEAR, dims="[[5]]"), LINEAR)] * 2
    test = [op("block", LINEAR, replace(LINEAR, dims="[[5]]"), replace(LINEAR, dims="[[7]]"))] * 2
    rows = causes(small, Made("a", base), Made("b", test))
    assert columns(rows, "cause", "name", "base_detail", "test_detail", "base_calls") == [
        ("shapes", "aten::linear", "[[8,8]]", "[[7]]", 6)
    ]


def without_shapes(operator: Op) -> Op:
    return replace(
        operator,
        dims=None,
        inside=tuple(map(without_shapes, operator.inside)),
        backward=operator.backward and without_shapes(operator.backward),
    )


def test_no_shapes_recorded(small):
    """Of one side: nothing is known of the shapes, nor of kernels on the same ones."""
    base, test = Made("a", BASE), Made("b", list(map(without_shapes, BASE)))
    assert causes(small, base, test) == []
    assert causes(small, base, test, base_job="b", test_job="a") == []
    # Of neither: kernels are compared without.
    other = replace(RELU, kernels=(("vectorized<relu>", 20_000),))
    base, test = (
        list(map(without_shapes, program)) for program in (BASE, step(LINEAR, other, NORM))
    )
    assert causes(small, Made("a", base), Made("b", base)) == []
    assert named(causes(small, Made("a", base), Made("b", test))) == [("kernels", "aten::relu")]


# Kernels


def test_other_kernels_on_the_same_shapes(small):
    other = replace(RELU, kernels=(("vectorized<relu>", 30_000), ("vectorized<more>", 1_000)))
    rows = causes(small, Made("a", BASE), Made("b", step(LINEAR, other, NORM)))
    assert columns(
        rows,
        "cause",
        "name",
        "inside",
        "base_detail",
        "test_detail",
        "base_calls",
        "test_calls",
        "time_of",
        "diff_ratio",
    ) == [("kernels", "aten::relu", "block", "elementwise", "vectorized", 3, 6, "gpu", None)]
    assert rows[0]["base_per_step_ns"] == pytest.approx(3 * 20_000, rel=0.02)
    assert rows[0]["diff_per_step_ns"] == pytest.approx(3 * 11_000, rel=0.1)


def test_a_kernel_more(small):
    other = replace(RELU, kernels=RELU.kernels * 2)
    rows = causes(small, Made("a", BASE), Made("b", step(LINEAR, other, NORM)))
    assert columns(
        rows, "cause", "name", "base_detail", "test_detail", "base_calls", "test_calls"
    ) == [("kernels", "aten::relu", None, "elementwise", 3, 6)]


class Kernels(Made):
    """As in traces with rows of GPUs only: `program` has names and times of kernels."""

    def run_step(self, program) -> None:
        for name, dur_ns in program:
            self.launch(name, dur_ns)


KERNELS = [("gemm", 50_000), ("gemm", 50_000), ("relu", 20_000)] * 10


@pytest.mark.parametrize("marked", [True, False])
def test_kernels_of_no_operator(small, marked):
    """They are named themselves. `marked`: steps are known of activities alone."""

    def made(job, kernels):
        return Kernels(job, kernels, marked=marked, steps=1)

    base = made("a", KERNELS)
    assert causes(small, base, made("b", KERNELS)) == []
    if marked:  # no step is marked on the host
        return
    replaced = [("fused", 30_000) if name == "relu" else (name, ns) for name, ns in KERNELS]
    rows = causes(small, base, made("b", replaced))
    assert columns(
        rows, "cause", "name", "base_detail", "test_detail", "base_calls", "test_calls", "inside"
    ) == [
        ("kernels", "fused", None, "fused", 0, 10, None),
        ("kernels", "relu", "relu", None, 10, 0, None),
    ]
    rows = causes(small, base, made("b", KERNELS * 2))
    assert columns(rows, "cause", "name", "test_calls") == [
        ("kernels", "gemm", 40),
        ("kernels", "relu", 20),
    ]
    slow = [(name, ns * 1.2 if name == "gemm" else ns) for name, ns in KERNELS]
    rows = causes(small, base, made("b", slow))
    assert columns(rows, "cause", "name", "inside", "base_calls") == [
        ("kernel_time", "gemm", None, 20)
    ]
    assert rows[0]["diff_ratio"] == pytest.approx(0.2, abs=0.03)
