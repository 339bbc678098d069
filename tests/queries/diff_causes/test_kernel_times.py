"""Kernels and transfers that take longer."""

import random

import pytest
from queries.diff_causes.made import (
    BASE,
    LINEAR,
    NORM,
    RELU,
    STEPS,
    Made,
    causes,
    columns,
    exchanges,
    named,
    op,
    slower,
    step,
)
from seeds import seeds


def test_a_slower_kernel(small):
    """It is named by its whole name, for all the operators that launch it."""
    test = [
        slower(operator, 1.2) if operator.name == "aten::save" else operator
        for operator in step(LINEAR, RELU, slower(NORM, 1.2))
    ]
    rows = causes(small, Made("a", BASE), Made("b", test))
    assert columns(rows, "cause", "name", "inside", "base_calls", "test_calls", "time_of") == [
        ("kernel_time", "copy<1>", "aten::copy_", 4, 4, "gpu"),
        ("kernel_time", "reduce<1>", "aten::norm", 3, 3, "gpu"),
    ]
    for row, ns in zip(rows, (4 * 30_000, 3 * 15_000), strict=True):
        assert row["diff_ratio"] == pytest.approx(0.2, abs=0.03)
        assert row["diff_per_step_ns"] == pytest.approx(0.2 * ns, rel=0.15)
        assert row["base_per_step_ns"] == pytest.approx(ns, rel=0.02)
    faster = causes(small, Made("a", BASE), Made("b", test), base_job="b", test_job="a")
    assert named(faster) == named(rows)
    assert all(row["diff_ratio"] == pytest.approx(1 / 1.2 - 1, abs=0.03) for row in faster)


def test_a_kernel_that_is_hardly_slower(small):
    """1 % is what the hardware does, 5 % within 20 % of scatter is nothing."""
    test = step(LINEAR, slower(RELU, 1.01), NORM)
    assert causes(small, Made("a", BASE, noise=0.001), Made("b", test, noise=0.001)) == []
    test = step(LINEAR, slower(RELU, 1.05), NORM)
    assert causes(small, Made("a", BASE, noise=0.2), Made("b", test, noise=0.2)) == []
    rows = causes(small, Made("a", BASE, noise=0.001), Made("b", test, noise=0.001))
    assert named(rows) == [("kernel_time", "elementwise<relu>")]


def test_a_small_kernel(small):
    """Less than 0.1 % of a step: 0.2 of 300 ns of a ms."""
    tiny = op("aten::fill_", kernels=(("fill", 300),))
    program = [op("block", LINEAR, tiny, op("wait", own_ns=1_000_000))]
    test = [op("block", LINEAR, slower(tiny, 1.5), op("wait", own_ns=1_000_000))]
    assert causes(small, Made("a", program, noise=0.001), Made("b", test, noise=0.001)) == []


def test_one_call_a_step(small):
    """5 % more where steps scatter by 1 %: Student's t of three and three would have to be 8.6, and
    is 6.1. Of the kernels of a step, such a one is found every now and then by chance."""

    def program(*durations):
        return lambda number: [*BASE, op("aten::sum", kernels=(("sum", durations[number]),))]

    base = Made("a", program(99_000, 100_000, 101_000), steps=3, noise=0)
    test = Made("b", program(131_000, 129_000, 130_000), steps=3, noise=0)
    assert named(causes(small, base, test)) == [("kernel_time", "sum")]
    test = Made("b", program(106_000, 104_000, 105_000), steps=3, noise=0)
    assert causes(small, base, test) == []


@pytest.mark.parametrize("seed", seeds(3))
def test_all_kernels_go_up_and_down_together(small, seed):
    """With the clock of the GPU, say, from step to step: that is no reason to name any."""
    rng = random.Random(seed)
    clocks = {job: [rng.uniform(0.8, 1.2) for _ in range(STEPS)] for job in "ab"}

    def made(job, program):
        return Made(
            job, program, seed=seed, noise=0.005, factor=lambda rank, step: clocks[job][step]
        )

    assert causes(small, made("a", BASE), made("b", BASE)) == []


def test_one_of_them_is_slower_beside_the_others(small):
    """All go up and down by up to 5 %, and one takes 1.6 times as long."""
    rng = random.Random(0)
    clocks = {job: [rng.uniform(0.95, 1.05) for _ in range(STEPS)] for job in "ab"}
    rows = causes(
        small,
        *(
            Made(job, program, factor=lambda rank, step, job=job: clocks[job][step])
            for job, program in (("a", BASE), ("b", step(LINEAR, slower(RELU, 1.6), NORM)))
        ),
    )
    # Its backward pass launches another kernel.
    assert named(rows) == [("kernel_time", "elementwise<relu>")]
    assert rows[0]["diff_ratio"] == pytest.approx(0.6, abs=0.1)


def straggling(rank, step) -> float:
    return 1.3 if rank == 1 else 1


def test_a_straggler_on_both_sides(small):
    """A rank's kernels are compared with those of the rank in its place."""
    base = Made("a", BASE, ranks=2, factor=straggling)
    assert causes(small, base, Made("b", BASE, ranks=2, factor=straggling)) == []
    rows = causes(
        small, base, Made("b", step(LINEAR, slower(RELU, 1.2), NORM), ranks=2, factor=straggling)
    )
    assert columns(rows, "cause", "name", "base_calls") == [("kernel_time", "elementwise<relu>", 3)]
    assert rows[0]["diff_ratio"] == pytest.approx(0.2, abs=0.03)


def test_ranks_of_one_job(small):
    """Against the others, a straggler's kernels are slower, all of them."""
    job = Made("a", BASE, ranks=3, factor=straggling)
    kernels = {name for row in job.gpu_activities for name in [row["name"]]}
    rows = causes(
        small, job, Made("b", BASE), base_job="a", test_job="a", base_ranks=[0], test_ranks=[1]
    )
    assert {row["cause"] for row in rows} == {"kernel_time"}
    assert {row["name"] for row in rows} == kernels
    assert (
        causes(
            small, job, Made("b", BASE), base_job="a", test_job="a", base_ranks=[0], test_ranks=[2]
        )
        == []
    )


def test_steps_of_one_job(small):
    def program(number):
        return step(LINEAR, slower(RELU, 1.3 if number >= 4 else 1), NORM)

    job = Made("a", program, steps=8)
    given = {"base_job": "a", "test_job": "a", "base_steps": [0, 1, 2, 3]}
    other = Made("b", BASE)
    assert named(causes(small, job, other, **given, test_steps=[4, 5, 6, 7])) == [
        ("kernel_time", "elementwise<relu>")
    ]
    assert causes(small, job, other, **given, test_steps=[2, 3]) == []


@pytest.mark.parametrize("seed", seeds(2))
def test_a_slower_transfer(small, seed):
    base = exchanges("a", seed=seed, late_ns=20_000)
    rows = causes(small, base, exchanges("b", seed=seed, late_ns=20_000, transfer_ns=120_000))
    assert columns(rows, "cause", "name", "time_of", "inside") == [
        ("transfer", "allreduce 1000 Float of 2 ranks", "gpu", None)
    ]
    assert rows[0]["diff_ratio"] == pytest.approx(0.2, abs=0.03)


def test_waiting_is_no_transfer(small):
    base = exchanges("a", late_ns=1_000)
    assert causes(small, base, exchanges("b", late_ns=90_000)) == []
    assert causes(small, base, exchanges("b", late_ns=1_000, transfer_ns=101_000)) == []
