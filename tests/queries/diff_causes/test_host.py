"""The host: operators and the loading of data; several causes, and none."""

import random
from dataclasses import replace
from statistics import mean

import pytest
from queries.diff_causes.made import (
    BASE,
    BLOCK,
    CLONE,
    COPY,
    FETCH,
    LINEAR,
    NORM,
    RELU,
    RESHAPED,
    STEPS,
    Made,
    causes,
    columns,
    named,
    slower,
    step,
    with_fetches,
)


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
