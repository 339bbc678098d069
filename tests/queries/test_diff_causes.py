"""What changed first between two small jobs, one at a time; the arithmetic of noise in Python."""

import json
import random
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from math import atan, cos, isclose, pi, sin, sqrt
from statistics import mean, median

import pytest
from queries.small_tables import SmallTables, same
from queries.test_collectives import call

STEPS = 4


@pytest.fixture(scope="module")
def small():
    return SmallTables(["diff_causes"])


# Made-up jobs


@dataclass(frozen=True)
class Op:
    """An operator: what it calls, which kernels it launches for how long, its time without both;
    the operator of its backward pass, if any."""

    name: str
    inside: tuple["Op", ...] = ()
    dims: str | None = "[[8,8]]"
    kernels: tuple[tuple[str, int], ...] = ()
    own_ns: int = 10_000
    backward: "Op | None" = None
    launch_ns: int = 2_000


def op(name, *inside, **given) -> Op:
    return Op(name, inside, **given)


class Made:
    """Rows of a job whose durations, on the host and on the GPU, scatter by `noise` either way.

    `program` has the operators of a step, or gives them for its number; `factor` says for a rank
    and a step how many times as long the kernels take.
    """

    def __init__(
        self,
        job,
        program,
        *,
        steps=STEPS,
        ranks=1,
        seed=0,
        noise=0.02,
        factor=lambda rank, step: 1,
        marked=True,
    ):
        self.job, self.noise, self.factor, self.marked = job, noise, factor, marked
        self.rng, self.ids = random.Random(f"{seed} {job}"), count()
        self.host_ops, self.gpu_activities = [], []
        self.traces = [{"job": job, "rank": rank} for rank in range(ranks)]
        self.run_steps(program, steps=steps, ranks=ranks)

    def run_steps(self, program, *, steps, ranks) -> None:
        for self.rank in range(ranks):
            self.now = self.free = 1_000_000
            for self.step in range(steps):
                self.run_step(program(self.step) if callable(program) else program)

    def run_step(self, program) -> None:
        start_ns, waiting = self.now, []
        for operator in program:
            self.run(operator, None, None, waiting)
        for backward, forward_id in reversed(waiting):
            self.run(backward, None, forward_id, [])
        if self.marked:
            self.add_host("user_annotation", f"ProfilerStep#{self.step}", start_ns)

    def run(self, operator: Op, op_id, forward_id, waiting) -> None:
        event_id, start_ns = next(self.ids), self.now
        self.now += self.about(operator.own_ns)
        for inner in operator.inside:
            self.run(inner, event_id, forward_id, waiting)
        for name, dur_ns in operator.kernels:
            launched_ns = self.now
            self.now += self.about(operator.launch_ns)
            self.add_host("cuda_runtime", "cudaLaunchKernel", launched_ns, op_id=event_id)
            self.launch(name, dur_ns, event_id)
        self.add_host(
            "cpu_op",
            operator.name,
            start_ns,
            event_id=event_id,
            op_id=op_id,
            parent_id=op_id,
            input_dims=operator.dims,
            is_backward=forward_id is not None,
            forward_id=forward_id,
        )
        if operator.backward:
            waiting.append((operator.backward, event_id))

    def launch(self, name, dur_ns, op_id=None) -> None:
        start_ns = max(self.now, self.free)
        self.free = start_ns + self.about(dur_ns * self.factor(self.rank, self.step))
        self.gpu_activities.append(
            {
                "job": self.job,
                "rank": self.rank,
                "event_id": next(self.ids),
                "name": name,
                "short_name": name.split("<")[0],
                "step": self.of_step(),
                "op_id": op_id,
                "start_ns": start_ns,
                "end_ns": self.free,
            }
        )

    def add_host(self, cat, name, start_ns, **given) -> None:
        self.host_ops.append(
            {
                "job": self.job,
                "rank": self.rank,
                "event_id": next(self.ids),
                "cat": cat,
                "name": name,
                "step": self.of_step(),
                "start_ns": start_ns,
                "end_ns": self.now,
            }
            | given
        )

    def of_step(self):
        return self.step if self.marked else None

    def about(self, ns) -> int:
        return round(ns * self.rng.uniform(1 - self.noise, 1 + self.noise))


def together(*jobs) -> dict:
    names = ("gpu_activities", "host_ops", "traces")
    return {name: [row for job in jobs for row in getattr(job, name)] for name in names}


def causes(small, base, test, seed=0, **parameters) -> list[dict]:
    """All causes; the rows of the tables are in any order."""
    rng = random.Random(seed)
    tables = together(base, test)
    small.fill(**{table: rng.sample(rows, len(rows)) for table, rows in tables.items()})
    rows = small.run("diff_causes", **parameters)
    assert [row["position"] for row in rows] == list(range(1, len(rows) + 1))
    return rows


def named(rows) -> list[tuple]:
    return [(row["cause"], row["name"]) for row in rows]


def columns(rows, *names) -> list[tuple]:
    return [tuple(row[name] for name in names) for row in rows]


MM = op("aten::mm", kernels=(("gemm<128>", 50_000),))
LINEAR = op(
    "aten::linear",
    op("aten::t"),
    MM,
    backward=op("autograd: MmBackward0", op("MmBackward0", MM, replace(MM, dims="[[8,9]]"))),
)
RELU = op(
    "aten::relu",
    kernels=(("elementwise<relu>", 20_000),),
    backward=op("autograd: ReluBackward0", kernels=(("elementwise<drelu>", 20_000),)),
)
COPY = op("aten::copy_", kernels=(("copy<1>", 30_000),))
CLONE = op("aten::clone", op("aten::empty_like", op("aten::empty")), COPY)
NORM = op("aten::norm", COPY, kernels=(("reduce<1>", 15_000),))
BLOCK = [LINEAR, RELU, NORM]


def step(*operators, times=3) -> list[Op]:
    """A step of a few blocks, and an operator that also calls what some of them do."""
    return [*[op("block", *operators)] * times, op("aten::save", CLONE)]


BASE = step(*BLOCK)


def slower(operator: Op, times: float, own=1.0) -> Op:
    """The operator and all in it with kernels, and its own time, that many times as long."""
    return replace(
        operator,
        inside=tuple(slower(inner, times) for inner in operator.inside),
        kernels=tuple((name, round(ns * times)) for name, ns in operator.kernels),
        own_ns=round(operator.own_ns * own),
    )


# Nothing, and everything


@pytest.mark.parametrize("seed", range(5))
def test_what_the_header_promises(small, seed):
    """Of programs with all kinds of changes; the order of the tables' rows plays no part."""
    rng = random.Random(seed)
    changed = [
        rng.choice(
            [
                operator,
                RESHAPED,
                CLONE,
                slower(operator, 1.4),
                replace(operator, own_ns=90_000),
                replace(operator, kernels=(("other", 9_000),)),
                op("wrap", operator),
                op("aten::view"),
            ]
        )
        for operator in BLOCK
        for _ in range(2)
    ]
    base, test = exchanges("a", seed=seed), exchanges("b", transfer_ns=150_000)
    test.run_steps(step(*changed), steps=STEPS, ranks=2)
    base.run_steps(step(*BLOCK, *BLOCK), steps=STEPS, ranks=2)
    tables = together(with_fetches(base, *[30_000] * 16), with_fetches(test, *[60_000] * 16))
    small.fill(**tables)
    rows = small.run("diff_causes")
    assert len(rows) > 3 and small.broken_promises("diff_causes") == []
    for _ in range(3):
        small.fill(**{table: rng.sample(rows, len(rows)) for table, rows in tables.items()})
        again = small.run("diff_causes")
        assert len(again) == len(rows) and all(map(same, rows, again))


@pytest.mark.parametrize("seed", range(5))
def test_the_same_program_again(small, seed):
    assert causes(small, Made("a", BASE, seed=seed), Made("b", BASE, seed=seed)) == []


def test_the_same_job(small):
    job = Made("a", BASE, ranks=2, noise=0.3)
    assert causes(small, job, Made("b", BASE), base_job="a", test_job="a") == []
    small.fill(**together(job))
    assert small.run("diff_causes") == []


def test_empty(small):
    small.fill()
    assert small.run("diff_causes") == []
    assert small.run("diff_causes", base_job="a", test_job="b", base_ranks=[3]) == []
    small.fill(traces=[{"job": "a"}, {"job": "b"}])
    assert small.run("diff_causes") == []
    # Without a common whole there is nothing to compare with.
    small.fill(**together(Made("a", BASE)))
    assert small.run("diff_causes", test_ranks=[7]) == []
    assert small.run("diff_causes", base_steps=[], test_steps=[1]) == []


# How often


def test_an_operator_is_inserted(small):
    """It is named where it is new, not where it always was; what is in it is not named."""
    rows = causes(small, Made("a", BASE), Made("b", step(LINEAR, CLONE, RELU, NORM)))
    assert named(rows) == [("calls", "aten::clone")]
    assert columns(
        rows,
        "inside",
        "base_calls",
        "test_calls",
        "time_of",
        "diff_ratio",
        "base_detail",
        "test_detail",
        "diff_frac",
    ) == [("block", 0, 3, "gpu", None, None, None, 1)]
    [row] = rows
    assert (row["base_per_step_ns"], row["test_per_step_ns"]) == (
        0,
        pytest.approx(3 * 30_000, rel=0.02),
    )
    assert row["diff_per_step_ns"] == row["test_per_step_ns"]


def test_its_backward_pass_is_part_of_it(small):
    clone = replace(CLONE, backward=op("autograd: CloneBackward0", op("CloneBackward0", COPY)))
    rows = causes(small, Made("a", BASE), Made("b", step(*BLOCK, clone)))
    assert named(rows) == [("calls", "aten::clone")]
    assert rows[0]["test_per_step_ns"] == pytest.approx(2 * 3 * 30_000, rel=0.02)


def test_an_operator_without_kernels(small):
    """Then its time is that of the host, with what it calls."""
    rows = causes(small, Made("a", BASE), Made("b", step(*BLOCK, op("check", op("aten::t")))))
    assert columns(rows, "cause", "name", "time_of", "test_calls") == [
        ("calls", "check", "host", 3)
    ]
    assert rows[0]["diff_per_step_ns"] == pytest.approx(3 * 2 * 10_000, rel=0.02)


def test_called_less(small):
    base = Made("a", step(LINEAR, RELU, RELU, NORM))
    rows = causes(small, base, Made("b", BASE))
    assert columns(rows, "cause", "name", "base_calls", "test_calls") == [
        ("calls", "aten::relu", 6, 3)
    ]
    # And the other way round.
    rows = causes(small, base, Made("b", BASE), base_job="b", test_job="a")
    assert columns(rows, "name", "base_calls", "test_calls") == [("aten::relu", 3, 6)]
    assert rows[0]["diff_per_step_ns"] == pytest.approx(3 * 2 * 20_000, rel=0.04)


def test_the_outermost_is_called_more(small):
    """Not what is in it, and no kernels."""
    rows = causes(small, Made("a", BASE), Made("b", step(*BLOCK, times=4)))
    assert columns(rows, "cause", "name", "inside", "base_calls", "test_calls") == [
        ("calls", "block", None, 3, 4)
    ]
    assert rows[0]["diff_frac"] == 1


def test_a_new_operator_around_another(small):
    """The inner one is called in its old place no more. What it calls is not named."""
    rows = causes(small, Made("a", BASE), Made("b", step(op("wrap", LINEAR), RELU, NORM)))
    assert {(row["name"], row["base_calls"], row["test_calls"], row["inside"]) for row in rows} == {
        ("wrap", 0, 3, "block"),
        ("aten::linear", 3, 0, "block"),
    }
    assert {row["cause"] for row in rows} == {"calls"}
    gained, lost = sorted(row["diff_per_step_ns"] for row in rows)
    assert gained == pytest.approx(-lost, rel=0.02)


def test_calls_that_differ_from_step_to_step(small):
    """Any difference of what is the same in every step is one; of other things it has to be beyond
    their noise."""

    def program(counts):
        return lambda step: [op("block", LINEAR, *[RELU] * counts[step])]

    def of(base, test):
        return named(
            causes(
                small,
                Made("a", program(base), steps=len(base)),
                Made("b", program(test), steps=len(test)),
            )
        )

    assert of([4, 4, 4], [5, 5, 5]) == [("calls", "aten::relu")]
    assert of([2, 5, 8, 3], [5, 7, 2, 6]) == []
    assert of([2, 3, 2, 3, 2], [9, 8, 9, 8, 9]) == [("calls", "aten::relu")]
    assert of([4], [5]) == [("calls", "aten::relu")]


def test_jobs_of_other_sizes(small):
    """Calls are those in a step of a rank."""
    base = Made("a", BASE, steps=3, ranks=2)
    assert causes(small, base, Made("b", BASE, steps=5, ranks=1)) == []
    rows = causes(small, base, Made("b", step(*BLOCK, CLONE), steps=5, ranks=3))
    assert columns(rows, "cause", "name", "base_calls", "test_calls") == [
        ("calls", "aten::clone", 0, 3)
    ]
    rows = causes(
        small,
        base,
        Made("b", step(*BLOCK, CLONE), steps=5, ranks=3),
        base_ranks=[1],
        test_ranks=[0, 2],
        test_steps=[4],
    )
    assert columns(rows, "name", "base_calls", "test_calls") == [("aten::clone", 0, 3)]


# Shapes

OTHER = "[[16,8]]"


def reshaped(dims_of_gradient) -> Op:
    """Twice as large, and so is what it calls; its backward pass gets a gradient of these."""
    larger = slower(MM, 2)
    node = op(
        "MmBackward0",
        replace(larger, dims=OTHER),
        replace(larger, dims="[[16,9]]"),
        dims=dims_of_gradient,
    )
    return replace(
        LINEAR,
        dims=OTHER,
        inside=(op("aten::t"), replace(larger, dims=OTHER)),
        backward=op("autograd: MmBackward0", node),
    )


RESHAPED = reshaped(OTHER)


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


# Time of kernels


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


@pytest.mark.parametrize("seed", range(3))
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


# Transfers


def exchanges(job, *, transfer_ns=100_000, late_ns=0, seed=0, steps=STEPS) -> Made:
    """Two ranks with three all-reduces a step; rank 1 comes up to so much too late."""
    made = Made(job, [op("block", RELU, own_ns=500_000)], ranks=2, steps=steps, seed=seed)
    first = {
        row["step"]: row["start_ns"]
        for row in made.host_ops
        if row["cat"] == "user_annotation" and row["rank"] == 0
    }
    rng = random.Random(f"late {seed} {job}")
    for number, start_ns in first.items():
        for i in range(3):
            starts = [start_ns + 150_000 * i, start_ns + 150_000 * i + rng.randint(0, late_ns)]
            end_ns = max(starts) + made.about(transfer_ns)
            made.gpu_activities += [
                call(
                    rank,
                    starts[rank],
                    end_ns,
                    job=job,
                    step=number,
                    seq=10 * number + i + 1,
                    event_id=10 * number + i,
                )
                for rank in (0, 1)
            ]
    return made


@pytest.mark.parametrize("seed", range(2))
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


# The host


def test_a_slower_operator_on_the_host(small):
    """Its own time, wherever it is called; not that of what is around it or in it."""
    rows = causes(
        small, Made("a", BASE), Made("b", step(LINEAR, RELU, replace(NORM, own_ns=25_000)))
    )
    assert columns(rows, "cause", "name", "time_of", "inside", "base_calls", "test_calls") == [
        ("host_time", "aten::norm", "host", None, 3, 3)
    ]
    [row] = rows
    assert row["diff_ratio"] == pytest.approx(1.5, abs=0.1)
    assert row["diff_per_step_ns"] == pytest.approx(3 * 15_000, rel=0.1)
    slow = replace(NORM, inside=(replace(COPY, own_ns=25_000),))
    rows = causes(small, Made("a", BASE), Made("b", step(LINEAR, RELU, slow)))
    assert named(rows) == [("host_time", "aten::copy_")]


def test_slower_calls_of_the_runtime_are_not_the_operators(small):
    slow = replace(RELU, launch_ns=20_000)
    assert causes(small, Made("a", BASE), Made("b", step(LINEAR, slow, NORM))) == []


@pytest.mark.parametrize(
    ("own_ns", "more_ns", "found"),
    [
        (100_000, 8_000, []),  # 8 %
        (100_000, 12_000, [("host_time", "aten::norm")]),
        (2_000, 500, []),  # 25 %, but of a step of 600 us
        (2_000, 4_000, [("host_time", "aten::norm")]),
    ],
)
def test_how_much_slower_on_the_host(small, own_ns, more_ns, found):
    def made(job, own_ns):
        return Made(job, step(LINEAR, RELU, replace(NORM, own_ns=own_ns)), noise=0.001)

    assert named(causes(small, made("a", own_ns), made("b", own_ns + more_ns))) == found


def test_noise_of_the_host(small):
    """Of the host's calls only the noise of steps is known; what is within it is no cause."""
    rng = random.Random(5)
    times = {job: [rng.uniform(0.5, 1.5) for _ in range(STEPS)] for job in "ab"}
    times["b"] = [t * 1.3 * mean(times["a"]) / mean(times["b"]) for t in times["b"]]

    def program(job):
        return lambda number: step(
            LINEAR, RELU, replace(NORM, own_ns=round(10_000 * times[job][number]))
        )

    assert causes(small, Made("a", program("a")), Made("b", program("b"))) == []


FETCH = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"


def with_fetches(made: Made, *durations) -> Made:
    """A batch fetched at the beginning of each step."""
    marks = [row for row in made.host_ops if row["cat"] == "user_annotation"]
    for row, dur_ns in zip(marks, durations, strict=True):
        fetch = {"event_id": next(made.ids), "name": FETCH, "end_ns": row["start_ns"] + dur_ns}
        made.host_ops.append(row | fetch)
    return made


def test_data_loading(small):
    base = with_fetches(Made("a", BASE), 98_000, 100_000, 103_000, 99_000)
    rows = causes(small, base, with_fetches(Made("b", BASE), 150_000, 151_000, 147_000, 152_000))
    assert columns(
        rows,
        "cause",
        "name",
        "time_of",
        "inside",
        "base_calls",
        "test_calls",
        "base_per_step_ns",
        "test_per_step_ns",
        "diff_per_step_ns",
        "diff_ratio",
    ) == [("data_loading", FETCH, "host", None, 1, 1, 100_000, 150_000, 50_000, 0.5)]
    assert (
        causes(small, base, with_fetches(Made("b", BASE), 105_000, 104_000, 107_000, 108_000)) == []
    )


def test_noise_of_data_loading(small):
    base = with_fetches(Made("a", BASE, steps=3), 60_000, 140_000, 100_000)
    test = with_fetches(Made("b", BASE, steps=3), 130_000, 90_000, 170_000)
    assert causes(small, base, test) == []


# Several, one step, none


def test_several_causes_by_their_size(small):
    test = step(LINEAR, slower(RELU, 1.5), NORM, CLONE)
    rows = causes(small, Made("a", BASE), Made("b", test))
    assert named(rows) == [("calls", "aten::clone"), ("kernel_time", "elementwise<relu>")]
    assert sum(row["diff_frac"] for row in rows) == pytest.approx(1)
    assert rows[0]["diff_frac"] == pytest.approx(90_000 / (90_000 + 3 * 10_000), abs=0.03)


CHANGED = step(
    RESHAPED,
    replace(RELU, kernels=(("vectorized", 20_000),)),
    CLONE,
    replace(NORM, kernels=(("reduce<1>", 20_000),)),
    times=8,
)
FOUND = {
    ("shapes", "aten::linear"),
    ("kernels", "aten::relu"),
    ("calls", "aten::clone"),
    ("kernel_time", "reduce<1>"),
}


@pytest.mark.parametrize("marked", [True, False])
@pytest.mark.parametrize("steps", [1, STEPS])
def test_one_step_or_none(small, marked, steps):
    """A rank without steps has one sample, of all there is; its calls tell of noise too."""
    given = {"marked": marked, "steps": steps, "noise": 0.005}
    base = step(*BLOCK, times=8)
    assert causes(small, Made("a", base, **given), Made("b", base, **given)) == []
    rows = causes(small, Made("a", base, **given), Made("b", CHANGED, **given))
    assert set(named(rows)) == FOUND and len(rows) == len(FOUND)
    calls = {row["name"]: row["test_calls"] for row in rows if row["cause"] == "calls"}
    assert calls == {"aten::clone": 8 if marked else 8 * steps}


# The arithmetic, from its comments in plain Python


@cache
@cache
def quantile(freedom: int, chance: float = 0.001) -> float:
    """Student's t that chance exceeds, on either side: once in a thousand."""
    low, high = 0.0, 1e5
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if within(middle, freedom) < 1 - chance else (low, middle)
    return high


def within(t: float, freedom: int) -> float:
    """How much of Student's distribution lies between -t and t: the finite sums of 26.7.3 and
    26.7.4 in Abramowitz & Stegun."""
    angle = atan(t / sqrt(freedom))
    odd = freedom % 2
    term, total = (cos(angle) if odd else 1.0), 0.0
    for number in range(1 + odd, freedom, 2):
        total += term
        term *= number / (number + 1) * cos(angle) ** 2
    return 2 / pi * (angle + sin(angle) * total) if odd else sin(angle) * total


def test_quantiles(small):
    """As in the tables, or a hundredth above."""
    assert [round(quantile(freedom), 2) for freedom in (1, 2, 3, 10, 30, 120)] == [
        636.62,
        31.60,
        12.92,
        4.59,
        3.65,
        3.37,
    ]
    rows = small.con.execute("SELECT i, student_t(i) FROM range(1, 1000) AS t (i)").fetchall()
    for freedom, found in rows:
        exact = quantile(freedom)
        assert exact - 0.005 <= found <= exact * 1.01, freedom
    assert small.con.execute("SELECT student_t(0), student_t(-1)").fetchall() == [(None, None)]


def kept(values) -> list[float]:
    """Without a fifth at either end."""
    values = sorted(values)
    ends = len(values) // 5
    return values[ends : len(values) - ends]


def noise(base, test) -> tuple[float, float] | None:
    """Yuen's standard error, of one variance, and the t by which to multiply it."""
    freedom = len(kept(base)) + len(kept(test)) - 2
    if freedom < 1:
        return None
    squares = 0.0
    for values in (base, test):
        low, *_, high = [min(kept(values)), max(kept(values))]
        drawn_in = [min(max(value, low), high) for value in values]
        squares += sum((value - mean(drawn_in)) ** 2 for value in drawn_in)
    return sqrt(squares / freedom * (1 / len(kept(base)) + 1 / len(kept(test)))), quantile(freedom)


def beyond(difference: float, limit: float) -> bool | None:
    """Whether it is; None where what is rounded decides."""
    if isclose(difference, limit, rel_tol=0.01, abs_tol=1e-8):
        return None
    return difference > limit


def changed_rates(parts, wholes) -> dict[tuple, tuple]:
    """By whole and part: whether its rate changed, and those of both sides."""
    rates = defaultdict(dict)
    for whole, _, sample, times in wholes:
        rates[whole][sample] = times
    side_of = {sample: side for _, side, sample, _ in wholes}
    found = {}
    for whole, part in {(whole, part) for whole, part, _, _ in parts}:
        sides = {"base": [], "test": []}
        there = {sample: times for w, p, sample, times in parts if (w, p) == (whole, part)}
        for sample, times in rates[whole].items():
            sides[side_of[sample]].append(there.get(sample, 0) / times)
        base, test = sides["base"], sides["test"]
        if not base or not test:
            continue
        means = mean(kept(base)), mean(kept(test))
        error = noise(base, test)
        difference = abs(means[1] - means[0])
        if len(set(base)) == len(set(test)) == 1:  # of a step each, too
            found[whole, part] = (base[0] != test[0], *means)
        elif error is None:
            found[whole, part] = (difference > 1e-9, *means)
        else:
            found[whole, part] = (beyond(difference, error[0] * error[1]), *means)
    return found


def table(con, name, columns, rows) -> None:
    """A table of these rows, shuffled."""
    con.execute(f"CREATE OR REPLACE TEMP TABLE {name} ({columns})")
    if rows:
        places = ", ".join("?" * len(rows[0]))
        con.executemany(f"INSERT INTO {name} VALUES ({places})", random.sample(rows, len(rows)))


def drawn_rates(rng):
    counts = {"base": rng.choice([1, 2, 3, 5, 12]), "test": rng.choice([1, 2, 3, 6, 10])}
    samples = [(side, i) for side in counts for i in range(counts[side])]
    parts, wholes = [], []
    for whole in range(12):
        sides = rng.choice([["base"], ["test"], *[["base", "test"]] * 6])
        usual = {side: rng.choice([0, 1, 1, 2, 3, 4]) for side in counts}
        scatter, absent = rng.choice([0, 0, 0.2, 1]), rng.choice([0, 0, 0.3])
        kinds = [f"p{i}" for i in range(rng.randint(1, 3))]
        same_on_both = {part: rng.random() < 0.4 for part in kinds}
        for number, (side, _) in enumerate(samples):
            if side not in sides or rng.random() < absent:
                continue
            times = rng.randint(1, 5)
            wholes.append((whole, side, number, times))
            for part in kinds:
                rate = usual["base" if same_on_both[part] else side]
                often = max(0, round(times * rate * (1 + rng.uniform(-scatter, scatter))))
                if often:
                    parts.append((whole, part, number, often))
    return parts, wholes


RATE_SEEDS = range(40)


@pytest.mark.parametrize("seed", RATE_SEEDS)
def test_changed_rates(small, seed):
    parts, wholes = drawn_rates(random.Random(seed))
    other_parts, other_wholes = drawn_rates(random.Random(seed + 1))
    table(
        small.con,
        "drawn_parts",
        "cause VARCHAR, whole BIGINT, part VARCHAR, sample BIGINT, times BIGINT",
        [*[("one", *row) for row in parts], *[("other", *row) for row in other_parts]],
    )
    table(
        small.con,
        "drawn_wholes",
        "cause VARCHAR, whole BIGINT, side VARCHAR, sample BIGINT, times BIGINT",
        [*[("one", *row) for row in wholes], *[("other", *row) for row in other_wholes]],
    )
    rows = small.con.execute(
        "SELECT whole, part, base_rate, test_rate FROM changed_rates(drawn_parts, drawn_wholes) "
        "WHERE cause = 'one'"
    ).fetchall()
    wanted = changed_rates(parts, wholes)
    found = {(whole, part): rates for whole, part, *rates in rows}
    assert len(rows) == len(found)
    for key, (changed, *rates) in wanted.items():
        assert changed is None or changed == (key in found), (key, wanted[key])
        assert key not in found or found[key] == pytest.approx(rates)
    assert found.keys() <= wanted.keys()


def test_drawn_rates_are_worth_it():
    found = Counter(
        changed
        for seed in RATE_SEEDS
        for changed, *_ in changed_rates(*drawn_rates(random.Random(seed))).values()
    )
    assert found[True] > 100 and found[False] > 100 and found[None] < 50, found


def changed_times(calls, step_counts) -> dict[str, tuple]:
    """By thing: whether its calls changed, and what changed_times() gives of it. `calls` are single
    ones: (thing, stratum, side, sample, dur_ns or, where only their sum is known, a list)."""
    strata = defaultdict(lambda: {"base": [], "test": []})
    for thing, stratum, side, _, durations in calls:
        strata[thing, stratum][side] += durations
    usual = {
        key: mean(sides["base"]) for key, sides in strata.items() if sides["base"] and sides["test"]
    }
    of_things = defaultdict(lambda: {"base": defaultdict(list), "test": defaultdict(list)})
    for thing, stratum, side, sample, durations in calls:
        if (thing, stratum) in usual:
            of_things[thing][side][sample] += [(ns, usual[thing, stratum]) for ns in durations]
    ratios = {
        (thing, sample): sum(ns for ns, _ in step) / sum(mean_ns for _, mean_ns in step)
        for thing, sides in of_things.items()
        for of_side in sides.values()
        for sample, step in of_side.items()
    }
    most = {
        sample: median(ratio for (_, other), ratio in ratios.items() if other == sample)
        for _, sample in ratios
    }
    measured = {}
    for thing, sides in of_things.items():
        beside = [
            [ratios[thing, sample] / most[sample] for sample in sides[side]]
            for side in ("base", "test")
        ]
        # Of a step: how many times as long as by the base's means its calls took.
        base, test = (
            [
                sum(ns for ns, _ in step) / sum(mean_ns for _, mean_ns in step)
                for step in sides[side].values()
            ]
            for side in ("base", "test")
        )
        single = [
            [ns / mean_ns for step in sides[side].values() for ns, mean_ns in step]
            for side in ("base", "test")
        ]
        freedom = len(single[0]) + len(single[1]) - 2
        squares = sum((one - mean(of_side)) ** 2 for of_side in single for one in of_side)
        call_error = None
        if freedom:
            call_error = sqrt(squares / freedom * sum(1 / len(of_side) for of_side in single))
        step = [call for of_step in sides["test"].values() for call in of_step]
        measured[thing] = {
            "ratio": mean(kept(test)) / mean(kept(base)),
            "noise": noise(base, test),
            "beside_noise": noise(*beside),
            "call_noise": call_error and call_error * max(5, quantile(freedom, 1e-5)),
            "base_calls": len(single[0]) / step_counts[0],
            "test_calls": len(single[1]) / step_counts[1],
            "base_ns": sum(ns for of_step in sides["base"].values() for ns, _ in of_step)
            / step_counts[0],
            "test_ns": sum(ns for ns, _ in step) / step_counts[1],
            "slower_ns": sum(ns - mean_ns for ns, mean_ns in step) / step_counts[1],
        }
    return measured


def is_changed(one, usual_ratio: float, known: bool) -> bool | None:
    """Beyond the noise of calls, and beyond that of steps or beside what most things do."""
    difference, beside = abs(one["ratio"] - 1), abs(one["ratio"] / usual_ratio - 1)
    of_steps = one["noise"] is not None and beyond(difference, one["noise"][0] * one["noise"][1])
    if not known or one["call_noise"] is None:
        return of_steps
    of_steps_beside = one["beside_noise"] is None or beyond(beside, 3 * one["beside_noise"][0])
    of_calls = beyond(difference, one["call_noise"])
    of_beside = all_of(beyond(beside, one["call_noise"]), of_steps_beside)
    either = (of_steps, of_beside)
    if of_calls is False or either == (False, False):
        return False
    return None if of_calls is None or True not in either else True


def all_of(*facts: bool | None) -> bool | None:
    return False if False in facts else None if None in facts else True


def drawn_times(rng, known=True):
    """Calls of things, with a clock that makes all go up and down, and noise of their own."""
    counts = {"base": rng.choice([1, 2, 3, 4, 7, 11]), "test": rng.choice([1, 2, 3, 5, 8])}
    samples = [(side, i) for side in counts for i in range(counts[side])]
    clock = rng.choice([0, 0, 0.02, 0.2])
    clocks = [rng.uniform(1 - clock, 1 + clock) for _ in samples]
    most = rng.choice([1, 1, 1.1])
    calls = []
    for number in range(20):
        noise = rng.choice([0, 0.005, 0.02, 0.1, 0.3])
        # Much, none, or about as much as can be told from the noise of a few calls.
        effect = rng.choice([1, 1, 1.1, 1.3, 0.8, 1 + noise * rng.uniform(-2, 2)]) * most
        for stratum in range(rng.choice([1, 1, 3])):
            usual_ns = rng.randint(500, 50_000)
            sides = rng.choice([["base"], ["test"], *[["base", "test"]] * 8])
            for sample, (side, _) in enumerate(samples):
                if side not in sides or rng.random() < 0.1:
                    continue
                times = effect if side == "test" else 1
                calls.append(
                    (
                        f"t{number}",
                        stratum,
                        side,
                        sample,
                        [
                            round(
                                usual_ns
                                * times
                                * clocks[sample]
                                * rng.uniform(1 - noise, 1 + noise)
                            )
                            for _ in range(rng.choice([1, 2, 6, 20]))
                        ],
                    )
                )
    return calls, (rng.randint(1, 9), rng.randint(1, 9))


TIME_SEEDS = range(60)
GIVEN = ("ratio", "base_calls", "test_calls", "base_ns", "test_ns", "slower_ns")


@pytest.mark.parametrize("seed", TIME_SEEDS)
def test_changed_times(small, seed):
    compare_times(small, seed, known=True)


def test_changed_times_without_squares(small):
    for seed in TIME_SEEDS:
        compare_times(small, seed, known=False)


def compare_times(small, seed, known) -> None:
    calls, step_counts = drawn_times(random.Random(seed))
    other_calls, _ = drawn_times(random.Random(seed + 1))
    table(
        small.con,
        "drawn_calls",
        "cause VARCHAR, thing VARCHAR, stratum UBIGINT, side VARCHAR, sample BIGINT, times BIGINT, "
        "total_ns HUGEINT, square_ns DOUBLE",
        [
            (
                cause,
                *place,
                len(durations),
                sum(durations),
                float(sum(ns * ns for ns in durations)) if known else None,
            )
            for cause, drawn in (("one", calls), ("other", other_calls))
            for *place, durations in drawn
        ],
    )
    table(
        small.con, "drawn_steps", "base_steps_count BIGINT, test_steps_count BIGINT", [step_counts]
    )
    rows = small.con.execute(
        f"SELECT thing, {', '.join(GIVEN)} FROM changed_times(drawn_calls, drawn_steps) "
        "WHERE cause = 'one'"
    ).fetchall()
    measured = changed_times(calls, step_counts)
    usual_ratio = median(one["ratio"] for one in measured.values())
    found = {thing: values for thing, *values in rows}
    assert len(rows) == len(found)
    for thing, one in measured.items():
        changed = is_changed(one, usual_ratio, known)
        assert changed is None or changed == (thing in found), (thing, one, usual_ratio)
        if thing in found:
            assert found[thing] == pytest.approx([one[name] for name in GIVEN], abs=1e-6)
    assert found.keys() <= measured.keys()


def test_drawn_times_are_worth_it():
    found = Counter()
    for seed in TIME_SEEDS:
        measured = changed_times(*drawn_times(random.Random(seed)))
        usual_ratio = median(one["ratio"] for one in measured.values())
        for one in measured.values():
            changed = is_changed(one, usual_ratio, True)
            found[changed] += 1
            if changed and one["noise"]:
                error, t = one["noise"]
                found["within the noise of steps"] += abs(one["ratio"] - 1) < 0.99 * error * t
            if changed is False and one["call_noise"] is not None:
                found["with all others"] += abs(one["ratio"] - 1) > 1.01 * one["call_noise"]
    assert min(found[True], found[False]) > 100 and found[None] < 60, found
    assert min(found["within the noise of steps"], found["with all others"]) > 15, found


# How it runs


@pytest.fixture(scope="module")
def large():
    """Of two jobs of two ranks 80,000 operators with kernels in 20 steps, and collectives."""
    tables = SmallTables(["diff_causes"])
    fill_large(tables.con)
    return tables


def fill_large(con) -> None:
    """Of each layer's operator an inner one with a kernel; in the second job one more now and then,
    and other shapes, kernels and times."""
    con.execute("""
        INSERT INTO given_host_ops BY NAME
        SELECT
            j AS job, i % 2 AS rank, 10 * i + k AS event_id,
            if(k = 2, 'cuda_runtime', 'cpu_op') AS cat,
            if(k = 2, 'cudaLaunchKernel', ['outer', 'inner'][1 + k] || i // 2 % 97) AS name,
            '1' AS pid, '1' AS tid, 1000 * i + 10 * k AS start_ns, 900 - 100 * k AS dur_ns,
            start_ns + dur_ns AS end_ns, i // 1000 AS step,
            if(k > 0, 10 * i + k - 1, NULL) AS op_id, op_id AS parent_id,
            i // 2 % 3 = 0 AS is_backward,
            if(is_backward AND i > 10, 10 * (i - 2), NULL) AS forward_id,
            '[[8,' || i % 5 + if(j = 'b' AND i // 2 % 97 = 5, 1, 0) || ']]' AS input_dims
        FROM range(20000) AS t (i), (VALUES ('a'), ('b')) AS jobs (j), range(3) AS s (k)
        WHERE NOT (j = 'a' AND i // 2 % 97 = 7)
        UNION ALL BY NAME
        SELECT
            j AS job, i % 2 AS rank, 1000000 + i AS event_id, 'user_annotation' AS cat,
            'ProfilerStep#' || i // 2 AS name, '1' AS pid, '1' AS tid,
            1000000 * (i // 2) AS start_ns, 999000 AS dur_ns, start_ns + dur_ns AS end_ns,
            i // 2 AS step
        FROM range(40) AS t (i), (VALUES ('a'), ('b')) AS jobs (j)
    """)
    con.execute("""
        INSERT INTO given_gpu_activities BY NAME
        SELECT
            j AS job, i % 2 AS rank, 0 AS device, 7 AS stream, 2000000 + i AS event_id,
            'kernel' AS cat, 'computation' AS kind,
            'k' || i // 2 % 97 + if(j = 'b' AND i // 2 % 97 = 11, 200, 0) AS name,
            name AS short_name, 1000 * i AS start_ns,
            700 + i % 7 + if(j = 'b' AND i // 2 % 97 = 13, 200, 0) AS dur_ns,
            start_ns + dur_ns AS end_ns, i // 1000 AS step, 10 * i + 1 AS op_id
        FROM range(20000) AS t (i), (VALUES ('a'), ('b')) AS jobs (j)
        UNION ALL BY NAME
        SELECT
            j AS job, i % 2 AS rank, 0 AS device, 20 AS stream, 3000000 + i AS event_id,
            'kernel' AS cat, 'communication' AS kind, 'nccl' AS name, name AS short_name,
            20000 * (i // 2) AS start_ns, 700 AS dur_ns, start_ns + dur_ns AS end_ns,
            i // 50 AS step, 'allreduce' AS collective_name, 'Float' AS dtype,
            1000 AS in_nelems, 1000 AS out_nelems, 2 AS group_size, '0' AS process_group_name,
            'default_pg' AS process_group_desc, '[0, 1]' AS process_group_ranks, i // 2 AS seq
        FROM range(1000) AS t (i), (VALUES ('a'), ('b')) AS jobs (j)
    """)
    con.execute("""
        INSERT INTO given_traces BY NAME
        SELECT unnest(['a', 'a', 'b', 'b']) AS job, unnest([0, 1, 0, 1]) AS rank
    """)


def profile(con, sql, file) -> dict:
    """What each node of a statement's plan did."""
    con.execute("SET enable_profiling = 'json'")
    con.execute(f"SET profiling_output = '{file}'")
    con.execute(sql).fetchall()
    con.execute("PRAGMA disable_profiling")
    [root] = json.loads(file.read_text())["operator"]
    return root


def nodes(root) -> list[dict]:
    return [root, *(node for child in root.get("children", []) for node in nodes(child))]


def grown_joins(root) -> list[str]:
    """Joins that compare every row with every other, unless with the two sides or a single row."""
    return [
        node["type"]
        for node in nodes(root)
        if node["type"]
        in (
            "CROSS_PRODUCT",
            "NESTED_LOOP_JOIN",
            "BLOCKWISE_NL_JOIN",
            "IE_JOIN",
            "PIECEWISE_MERGE_JOIN",
        )
        and min(child["intermediate_rows"] for child in node["children"]) > 2
    ]


@pytest.mark.parametrize("given", ["", "base_job := 'a', test_job := 'b', base_steps := [3, 4, 5]"])
def test_joins(large, tmp_path, given):
    root = profile(large.con, f"FROM diff_causes_v1({given})", tmp_path / "profile.json")
    assert grown_joins(root) == []
    # No join finds its rows by one of two equalities, to test the other.
    assert 20_000 < max(node["intermediate_rows"] for node in nodes(root)) <= 250_000


def test_the_large_ones_changes_are_found(large):
    found = {(row["cause"], row["name"]) for row in large.run("diff_causes")}
    assert {("calls", "outer7"), ("kernels", "inner11"), ("kernel_time", "k13")} <= found


@pytest.mark.parametrize("condition", ["true", "a.start_ns < b.end_ns", "a.rank <> b.rank"])
def test_grown_joins_are_noticed(large, tmp_path, condition):
    sql = f"""
        SELECT count(a.name || b.name)
        FROM (FROM gpu_activities LIMIT 1000) AS a
        JOIN (FROM gpu_activities LIMIT 1000) AS b ON {condition}
    """
    assert grown_joins(profile(large.con, sql, tmp_path / "profile.json"))
