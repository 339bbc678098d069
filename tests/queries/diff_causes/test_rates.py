"""Changed rates of drawn calls."""

import random
from collections import Counter, defaultdict
from statistics import mean

import pytest
from queries.diff_causes.arithmetic import beyond, kept, noise, quantile
from queries.diff_causes.made import table
from seeds import seeds


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


@pytest.mark.parametrize("seed", seeds(RATE_SEEDS))
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


@pytest.mark.seeds
def test_drawn_rates_are_worth_it():
    found = Counter(
        changed
        for seed in RATE_SEEDS
        for changed, *_ in changed_rates(*drawn_rates(random.Random(seed))).values()
    )
    assert found[True] > 100 and found[False] > 100 and found[None] < 50, found
