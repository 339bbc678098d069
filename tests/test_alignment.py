"""Longest common subsequences against the plain quadratic table, and as drawn."""

import random
import tracemalloc

import numpy as np
import pytest

from hta_sql.database import alignment
from hta_sql.database.alignment import longest_common_subsequence


def longest(base: list[int], test: list[int]) -> int:
    row = [0] * (len(test) + 1)
    for left in base:
        diagonal = 0
        for j, right in enumerate(test, 1):
            above = row[j]
            row[j] = diagonal + 1 if left == right else max(above, row[j - 1])
            diagonal = above
    return row[-1]


def pairs_of(base: list[int], test: list[int]) -> np.ndarray:
    """What is found, once its pairs are known to be a common subsequence."""
    pairs = longest_common_subsequence(base, test)
    assert pairs.dtype == np.int64 and pairs.shape == (len(pairs), 2)
    assert (np.diff(pairs, axis=0, prepend=-1) > 0).all()  # -1: the first is not negative
    assert [base[i] for i in pairs[:, 0]] == [test[j] for j in pairs[:, 1]]
    return pairs


def unrelated(rng: random.Random) -> tuple[list[int], list[int]]:
    values = rng.choice([1, 2, 3, 5, 10, 30, 100])
    base, test = ([rng.randrange(values) for _ in range(rng.randint(0, 60))] for _ in range(2))
    return base, test


def edited(rng: random.Random) -> tuple[list[int], list[int]]:
    """Repeated layers, some elements and stretches removed, repeated, replaced or moved."""
    values = rng.choice([2, 5, 30])
    layer = [rng.randrange(values) for _ in range(rng.randint(1, 12))]
    base = [rng.randrange(values) for _ in range(4)] + layer * rng.randint(0, 4)
    base += [rng.randrange(values) for _ in range(rng.randint(0, 8))]
    test = base.copy()
    for _ in range(rng.randint(0, 5)):
        at, length = rng.randint(0, len(test)), rng.choice([1, 1, 2, len(layer)])
        piece = test[at : at + length]
        fresh = [rng.randrange(values) for _ in range(length)]
        match rng.choice(["remove", "repeat", "insert", "replace", "move"]):
            case "remove":
                test[at : at + length] = []
            case "repeat":
                test[at:at] = piece
            case "insert":
                test[at:at] = fresh
            case "replace":
                test[at : at + length] = fresh
            case "move":
                test[at : at + length] = []
                at = rng.randint(0, len(test))
                test[at:at] = piece
    return (base, test) if rng.random() < 0.5 else (test, base)


@pytest.fixture(params=["traced back", "divided", "divided and traced back", "no masks kept"])
def way(request, monkeypatch):
    if request.param == "divided":
        monkeypatch.setattr(alignment, "BLOCK_BYTES", 0)
    elif request.param == "divided and traced back":
        monkeypatch.setattr(alignment, "BLOCK_BYTES", 400)
    elif request.param == "no masks kept":
        monkeypatch.setattr(alignment, "MASK_BYTES", 0)


@pytest.mark.parametrize("make", [unrelated, edited])
def test_small_ones_are_longest(way, make):
    rng = random.Random(make.__name__)
    for _ in range(1000):
        base, test = make(rng)
        assert len(pairs_of(base, test)) == longest(base, test), (base, test)


@pytest.mark.parametrize("values", [2, 40, 2000])
def test_long_ones_are_longest(monkeypatch, values):
    """Of many words a row, and of several divisions."""
    monkeypatch.setattr(alignment, "BLOCK_BYTES", 4096)
    rng = random.Random(values)
    base = [rng.randrange(values) for _ in range(1100)]
    test = [rng.randrange(values) for _ in range(300)] + base[200:700] + base[100:300]
    assert len(pairs_of(base, test)) == longest(base, test)


@pytest.mark.parametrize(
    ("base", "test"),
    [
        ("", ""),
        ("---", "abc"),
        ("abc", "---"),
        ("abc", "abc"),
        ("abc---", "---xyz"),
        # An op more in each layer, an op fewer in each.
        ("pab-cab-cab-cq", "pabxcabxcabxcq"),
        ("pabccabccq", "pabc-ab-cq"),
        ("pabcabcabcq", "pab-ab-ab-q"),
        # A layer removed, one more, and so with another change at each end.
        ("abcabcabcabc", "abcabcabc---"),
        ("pabcabc---q", "pabcabcabcq"),
        ("xpabcabcabc---q-", "-pabcabcabcabcqy"),
        ("xpabcabcabcabcq-", "-pabcabcabc---qy"),
        # A layer removed whose end is also before the first.
        ("xbabcabcz", "xbabc---z"),
        # A gap in one sequence moved to the next: the run before it moves, the run after it.
        ("pabcabcq", "p-----cq"),
        ("-pabcabcabcq", "apabcab-----"),
        # The layers replaced.
        ("pabcabc------q", "p------xyzxyzq"),
        # Two swapped: the longer stays.
        ("pabcde--q", "p--cdeabq"),
        ("p--abcdeq", "pdeabc--q"),
    ],
)
def test_drawn(way, base, test):
    """Elements below each other are matched; - is a gap."""
    wanted, i, j = [], 0, 0
    for left, right in zip(base, test, strict=True):
        if "-" not in (left, right):
            wanted.append([i, j])
        i, j = i + (left != "-"), j + (right != "-")
    codes = [[ord(letter) for letter in line if letter != "-"] for line in (base, test)]
    assert pairs_of(*codes).tolist() == wanted


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("more", ["base", "test"])
def test_a_layer_of_many_is_one_gap(way, swapped, more):
    """Also where both differ before and after, so that there is something to trace back."""
    long, short = [5, 6, *[1, 2, 3] * 12, 7, 8], [5, 6, *[1, 2, 3] * 11, 7, 8]
    if swapped:
        short[:2], short[-2:] = [6, 5], [8, 7]
    pairs = pairs_of(long, short) if more == "base" else pairs_of(short, long)[:, ::-1]
    assert len(pairs) == longest(long, short)
    gap = sorted(set(range(2, 38)) - set(pairs[:, 0].tolist()))
    assert gap == [gap[0], gap[0] + 1, gap[0] + 2]


def test_any_integers():
    base = [-(2**63), -1, -2, 2**63 - 1, 0]
    wanted = [[0, 0], [2, 1], [3, 2]]
    test = [base[i] for i, _ in wanted]
    assert pairs_of(base, test).tolist() == wanted
    assert longest_common_subsequence(tuple(base), np.array(test)).tolist() == wanted
    small = np.array([3, 1, 2], np.int32)
    assert longest_common_subsequence(small, small[::-1]).shape == (1, 2)
    assert longest_common_subsequence(range(5), range(3, 9)).tolist() == [[3, 0], [4, 1]]


def test_memory_is_not_quadratic():
    """All rows of 20,000 x 20,000 would be 50 MB of bits."""
    rng = random.Random(0)
    base, test = (np.array([rng.randrange(200) for _ in range(20_000)]) for _ in range(2))
    tracemalloc.start()
    try:
        pairs = longest_common_subsequence(base, test)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (base[pairs[:, 0]] == test[pairs[:, 1]]).all() and peak < 20e6
