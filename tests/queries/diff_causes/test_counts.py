"""What is called more or less often, and nothing where nothing changed."""

import random
from dataclasses import replace

import pytest
from queries.diff_causes.made import (
    BASE,
    BLOCK,
    CLONE,
    COPY,
    LINEAR,
    NORM,
    RELU,
    RESHAPED,
    STEPS,
    Made,
    causes,
    columns,
    exchanges,
    named,
    op,
    slower,
    step,
    together,
    with_fetches,
)
from queries.small_tables import same
from seeds import seeds


@pytest.mark.parametrize("seed", seeds(5))
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


@pytest.mark.parametrize("seed", seeds(5))
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
