"""Runs of steps that are alike."""

import random
from statistics import median

import pytest
from queries.marks import DECODE, PREFILL, fill, mark
from seeds import seeds


@pytest.fixture(autouse=True)
def without_marks(gpu):
    """Other tests have no marks of steps."""
    yield
    gpu.con.execute("DROP VIEW temp.step_marks")


def laid_out(steps: list[tuple[str, int]], rank: int = 0) -> list[dict]:
    """Marks of steps, given by name and duration, one after the other."""
    marks, at = [], 0
    for number, (name, dur) in enumerate(steps):
        marks.append(mark(number, name, at, at + dur, rank))
        at += dur + 1
    return marks


def test_a_warm_up_and_a_change_of_the_batch(gpu):
    small, large = DECODE.format(8, 8, 900), DECODE.format(16, 16, 2000)
    prefill = PREFILL.format(2, 100, 100)
    durations = [(prefill, 50), (small, 90), (small, 10), (small, 11), (small, 9)]
    durations += [(prefill, 60), (large, 20), (large, 22)]
    fill(gpu, laid_out(durations), [])
    first, second = gpu.run("steady_steps")
    assert (first["steps"], first["batch_size"], first["total_ns"]) == ([6, 7], 16, 42)
    assert first["time_frac"] == 42 / 272
    assert second == {
        "job": "j",
        "position": 2,
        "first_step": 2,
        "last_step": 4,
        "step_count": 3,
        "step_kind": "execute_0_context_0(sq0sk0sqsq0sqsk0)_generation_0(sq0sk0sqsq0sqsk0)",
        "phase": "decode",
        "batch_size": 8,
        "step_p50_ns": 10,
        "spread_frac": 0.2,
        "total_ns": 30,
        "time_frac": 30 / 272,
        "steps": [2, 3, 4],
    }


def test_ranks_count_by_the_slowest(gpu):
    names = [("train", 10), ("train", 10), ("train", 10)]
    slow = [("train", 10), ("train", 10), ("train", 30)]
    fill(gpu, laid_out(names) + laid_out(slow, rank=1), [])
    [run] = gpu.run("steady_steps")
    assert run["steps"] == [0, 1]
    [run] = gpu.run("steady_steps", only_ranks=[0])
    assert run["steps"] == [0, 1, 2]


def brute(steps: list[tuple[str, int]]) -> list[list[int]]:
    """The runs, by their steps."""
    of_kind: dict[str, list[int]] = {}
    for name, dur in steps:
        of_kind.setdefault(name, []).append(dur)
    runs, open_run = [], []
    for number, (name, dur) in enumerate(steps):
        middle = median(of_kind[name])
        is_steady = abs(dur - middle) <= middle / 4
        if not is_steady or open_run and steps[open_run[-1]][0] != name:
            runs.append(open_run)
            open_run = []
        if is_steady:
            open_run = [*open_run, number]
    return [run for run in [*runs, open_run] if len(run) >= 2]


@pytest.mark.parametrize("seed", seeds(20))
def test_random_steps(gpu, seed):
    draw = random.Random(seed)
    kinds = ["train", DECODE.format(4, 4, 8), DECODE.format(8, 8, 8), PREFILL.format(1, 70, 70)]
    steps = []
    for _ in range(draw.randint(0, 6)):
        kind = draw.choice(kinds)
        steps += [(kind, draw.choice([8, 9, 10, 11, 30])) for _ in range(draw.randint(1, 5))]
    fill(gpu, laid_out(steps), [])
    found = gpu.run("steady_steps")
    assert gpu.broken_promises("steady_steps") == []
    assert sorted(row["steps"] for row in found) == sorted(brute(steps))
    totals = [row["total_ns"] for row in found]
    assert totals == sorted(totals, reverse=True)
