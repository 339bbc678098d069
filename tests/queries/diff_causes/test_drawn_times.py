"""Changed times of drawn calls."""

import random
from collections import Counter, defaultdict
from math import sqrt
from statistics import mean, median

import pytest
from queries.diff_causes.arithmetic import beyond, kept, noise, quantile
from queries.diff_causes.made import table
from seeds import seeds


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


@pytest.mark.parametrize("seed", seeds(TIME_SEEDS))
def test_changed_times(small, seed):
    compare_times(small, seed, known=True)


@pytest.mark.parametrize("seed", seeds(TIME_SEEDS))
def test_changed_times_without_squares(small, seed):
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


@pytest.mark.seeds
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
