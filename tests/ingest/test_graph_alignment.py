"""Alignment of a replay with a graph, against every possible alignment of short sequences."""

import random

import numpy as np
import pytest
from seeds import seeds

from hta_sql.ingestion import graph_alignment
from hta_sql.ingestion.graph_alignment import NOBODY, Kernels, align, common_subsequence


def every_longest(a: list[int], b: list[int]) -> list[set[tuple[int, int]]]:
    """The pairs of each longest common subsequence."""
    found = [set()]
    for x, name in enumerate(a):
        found += [
            pairs | {(x, y)}
            for pairs in found
            for y in range(max((before for _, before in pairs), default=-1) + 1, len(b))
            if b[y] == name
        ]
    most = max(map(len, found))
    return [pairs for pairs in found if len(pairs) == most]


@pytest.mark.parametrize("seed", seeds(20))
def test_pairs_that_all_longest_subsequences_have(seed, monkeypatch):
    monkeypatch.setattr(graph_alignment, "MOST_DIFFERENCES", 1)
    draw = random.Random(seed)
    for _ in range(40):
        a, b = ([draw.randint(0, 2) for _ in range(draw.randint(0, 6))] for _ in "ab")
        wanted = sorted(set.intersection(*every_longest(a, b)))
        assert common_subsequence(a, b) == wanted, (a, b)


def kernels(names: list[int], kind: str = "kernel") -> Kernels:
    return Kernels(np.array(names, np.int64), np.array([kind] * len(names)))


def nodes(replay: list[int], graph: list[int]) -> list[int] | None:
    match = align(kernels(replay), kernels(graph))
    return match and match.nodes.tolist()


CASES = {
    "the same": ([1, 2, 3], [1, 2, 3], [0, 1, 2]),
    "one lost": ([1, 3, 4, 5], [1, 2, 3, 4, 5], [0, 2, 3, 4]),
    "one of two equal neighbours lost": ([1, 2, 3], [1, 2, 2, 3], [0, NOBODY, 3]),
    "two swapped": ([1, 3, 2, 4], [1, 2, 3, 4], [0, 2, 1, 3]),
    "one renamed": ([1, 9, 3, 4], [1, 2, 3, 4], [0, 1, 2, 3]),
    "one renamed beside its equal": ([1, 2, 9, 4], [1, 2, 2, 4], [0, 1, 2, 3]),
    "two renamed, nothing lost": (
        [1, 8, 9, 4, 5, 7, 1, 2],
        [1, 2, 3, 4, 5, 7, 1, 2],
        [0, 1, 2, 3, 4, 5, 6, 7],
    ),
    "two renamed, one lost elsewhere": (
        [1, 8, 9, 4, 5, 7, 1, 2],
        [1, 2, 3, 4, 5, 6, 7, 1, 2],
        [0, NOBODY, NOBODY, 3, 4, 6, 7, 8],
    ),
    "one lost and its neighbour swapped": ([1, 4, 3, 5, 6], [1, 2, 3, 4, 5, 6], [0, 3, 2, 4, 5]),
}


@pytest.mark.parametrize(("replay", "graph", "wanted"), CASES.values(), ids=CASES)
def test_cases(replay, graph, wanted):
    assert nodes(replay, graph) == wanted


def test_other_graphs():
    assert nodes([1, 2, 3, 4], [5, 6, 7, 8]) is None


def test_kinds_without_names():
    graph = Kernels(np.full(4, NOBODY), np.array(["kernel", "memcpy", "kernel", "memset"]))
    same = kernels([1, 2, 3, 4])._replace(kinds=graph.kinds)
    assert align(same, graph).nodes.tolist() == [0, 1, 2, 3]
    assert align(kernels([1, 2, 3]), graph).count == 0


def test_ambiguous_periods():
    """A whole layer of three is missing: which one is not known, so only its bounds are."""
    layer = [1, 2, 3, 4]
    found = nodes([9, *layer * 2, 8], [9, *layer * 3, 8])
    assert (found[0], found[-1]) == (0, 13)
    assert set(found[1:-1]) == {NOBODY}
