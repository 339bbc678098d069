"""Finds which launch of a captured graph made each activity of a replay.

Both are sequences. Most replays run exactly what was captured. But a launch may be lost, two may
have changed places, and a memset may run as a kernel with another name. A trace may also lack the
names of the launches. An activity that more than one launch could have made gets none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

NOBODY = -1
# Beyond this share of differences, sequences are of different graphs.
MOST_DIFFERENCES = 0.3
# Launches that change places do so with neighbours.
NEARBY = 8
# How sure a match is, by how it was found.
BY_NAME, BY_UNIQUE_NAME, BY_ORDER, RENAMED = 1.0, 0.9, 0.8, 0.7


class Kernels(NamedTuple):
    """The kernels and copies of a graph, in order. A name is a number; NOBODY if not known."""

    names: np.ndarray
    kinds: np.ndarray


class Match(NamedTuple):
    """For each activity of a replay: the node of the graph, or NOBODY, and how sure that is."""

    nodes: np.ndarray
    confidence: np.ndarray

    @property
    def count(self) -> int:
        return int((self.nodes != NOBODY).sum())


def align(replay: Kernels, graph: Kernels) -> Match | None:
    """The match of a replay with a graph; None if they are of different graphs."""
    size = len(replay.names)
    known = graph.names != NOBODY
    if same := whole_match(replay, graph, known):
        return same
    nodes = np.full(size, NOBODY)
    confidence = np.zeros(size)
    if known.all():
        here, there = np.arange(size), np.arange(len(graph.names))
    else:
        # Only launches with names can be compared, and activities with these names.
        there = np.flatnonzero(known)
        here = np.flatnonzero(np.isin(replay.names, graph.names[known]))
    pairs = common_subsequence(replay.names[here].tolist(), graph.names[there].tolist())
    if pairs is None:
        return None
    for a, b in pairs:
        nodes[here[a]], confidence[here[a]] = there[b], BY_NAME
    pair_unique_names(nodes, confidence, replay, graph)
    fill_gaps(nodes, confidence, replay, graph)
    return Match(nodes, confidence)


def whole_match(replay: Kernels, graph: Kernels, known: np.ndarray) -> Match | None:
    """The match one by one, if nothing contradicts it."""
    size = len(replay.names)
    if size != len(graph.names) or not np.array_equal(replay.kinds, graph.kinds):
        return None
    if not np.array_equal(replay.names[known], graph.names[known]):
        return None
    return Match(np.arange(size), np.where(known, BY_NAME, BY_ORDER))


def common_subsequence(a: list[int], b: list[int]) -> list[tuple[int, int]] | None:
    """The pairs that every longest common subsequence has; None if too little is common.

    If one of two equal neighbours is missing, there are several subsequences. They differ in these
    neighbours, and agree in all others.
    """
    forward = frontiers(a, b)
    backward = frontiers(a[::-1], b[::-1])
    if forward is None or backward is None:
        return None
    most = len(forward) - 1
    size = (len(a) + len(b) - most) // 2
    if not size:
        return []
    # In such a subsequence, y - x of a pair is at least `low` and at most `high`.
    low, high = -(most - len(b) + len(a)) // 2, (most + len(b) - len(a)) // 2
    before = lengths(forward, len(a), low, high)
    # low + high is len(b) - len(a), so the band is the same from the other end.
    after = lengths(backward, len(a), low, high)[::-1, ::-1]
    x = np.arange(len(a))[:, None]
    y = x + np.arange(low, high + 1)
    is_equal = (y >= 0) & (y < len(b))
    is_equal &= np.array(a)[:, None] == np.array(b)[np.clip(y, 0, len(b) - 1)]
    rows, places = np.nonzero(is_equal & (before + 1 + after == size))
    # Each subsequence has one pair for each length that comes before the pair.
    of_pairs = before[rows, places]
    is_only = np.bincount(of_pairs, minlength=size)[of_pairs] == 1
    pairs = zip(rows[is_only].tolist(), y[rows, places][is_only].tolist(), strict=True)
    return sorted(pairs)


def frontiers(a: Sequence[int], b: Sequence[int]) -> list[dict[int, int]] | None:
    """For each number of insertions and deletions, and each k: the largest x such that so many turn
    a[:x] into b[:x - k] (Myers, An O(ND) Difference Algorithm, 1986).

    The last is the number that turns a into b. None if this is more than MOST_DIFFERENCES of both.
    """
    found: list[dict[int, int]] = []
    before = {1: 0}
    for distance in range(int(MOST_DIFFERENCES * (len(a) + len(b))) + 1):
        furthest = {}
        for k in range(-distance, distance + 1, 2):
            down = k == -distance or (
                k != distance and before.get(k - 1, -1) < before.get(k + 1, -1)
            )
            x = before[k + 1] if down else before[k - 1] + 1
            while x < len(a) and x - k < len(b) and a[x] == b[x - k]:
                x += 1
            furthest[k] = x
        found.append(furthest)
        if furthest.get(len(a) - len(b), -1) >= len(a):
            return found
        before = furthest
    return None


def lengths(found: list[dict[int, int]], size: int, low: int, high: int) -> np.ndarray:
    """The length of the longest common subsequence of a[:x] and b[:y], in row x at y - x - low, for
    low <= y - x <= high. Below 0 if x and y are on no longest subsequence of a and b."""
    x = np.arange(size)
    rows = np.empty((size, high - low + 1), np.int64)
    for shift in range(low, high + 1):
        reached = [(at[-shift], distance) for distance, at in enumerate(found) if -shift in at]
        # Beyond the last one, so many differences that no length remains.
        furthest, distances = np.array([*reached, (size, 3 * size + high)]).T
        rows[:, shift - low] = (2 * x + shift - distances[np.searchsorted(furthest, x)]) // 2
    return rows


def pair_unique_names(
    nodes: np.ndarray, confidence: np.ndarray, replay: Kernels, graph: Kernels
) -> None:
    """Match what is left if its name is left once nearby on each side: it has changed its place."""
    here = np.flatnonzero(nodes == NOBODY)
    is_left = graph.names != NOBODY
    is_left[nodes[nodes != NOBODY]] = False
    there = np.flatnonzero(is_left)
    if not len(here) or not len(there):
        return
    # Where the activities that are left would be in the graph, by the matched one before each.
    at = np.maximum.accumulate(np.where(nodes != NOBODY, np.arange(len(nodes)), -1))[here]
    places = here + np.where(at >= 0, nodes[at] - at, 0)
    of_replay = by_name(replay.names[here], places)
    for name, mine in of_replay.items():
        yours = there[graph.names[there] == name]
        for index, place in mine:
            near = yours[np.abs(yours - place) <= NEARBY]
            if len(near) == 1 and alone(mine, int(near[0])):
                nodes[here[index]], confidence[here[index]] = near[0], BY_UNIQUE_NAME


def by_name(names: np.ndarray, places: np.ndarray) -> dict[int, list[tuple[int, int]]]:
    """Index and place of each, by name."""
    found: dict[int, list[tuple[int, int]]] = {}
    for index, (name, place) in enumerate(zip(names.tolist(), places.tolist(), strict=True)):
        found.setdefault(name, []).append((index, place))
    return found


def alone(places: list[tuple[int, int]], node: int) -> bool:
    """Whether only one of these is near the node."""
    return sum(abs(place - node) <= NEARBY for _, place in places) == 1


def fill_gaps(nodes: np.ndarray, confidence: np.ndarray, replay: Kernels, graph: Kernels) -> None:
    """Match what is left between two neighbours that are matched in order, if as much is left on
    both sides and the kinds agree.

    Launches with other names are then renamed. If it is one, it is clear. Several could also be one
    lost here and one added there, so they count only if nothing is lost or added anywhere.
    """
    in_order = [(-1, -1)]
    for at in np.flatnonzero(confidence == BY_NAME).tolist():
        in_order.append((at, int(nodes[at])))
    in_order.append((len(nodes), len(graph.names)))
    taken = set(nodes[nodes != NOBODY].tolist())
    gaps = []
    for (a, b), (until_a, until_b) in zip(in_order, in_order[1:], strict=False):
        if until_a - a == until_b - b == 1:
            continue
        here = [at for at in range(a + 1, until_a) if nodes[at] == NOBODY]
        there = [node for node in range(b + 1, until_b) if node not in taken]
        if here or there:
            gaps.append((here, there))
    left_here = by_name(*left(replay.names, [at for here, _ in gaps for at in here]))
    left_there = by_name(*left(graph.names, [node for _, there in gaps for node in there]))
    nothing_lost = all(len(here) == len(there) for here, there in gaps)
    for here, there in gaps:
        if len(here) != len(there):
            continue
        known = graph.names[there] != NOBODY
        renamed = known & (graph.names[there] != replay.names[here])
        if renamed.sum() > 1 and not nothing_lost:
            continue
        if any(
            has_moved(int(replay.names[at]), node, left_there, there)
            or has_moved(int(graph.names[node]), at, left_here, here)
            for at, node in zip(np.array(here)[renamed], np.array(there)[renamed], strict=True)
        ):
            continue
        pairs = zip(replay.kinds[here].tolist(), graph.kinds[there].tolist(), strict=True)
        if all(is_alike(*kinds) for kinds in pairs):
            nodes[here] = there
            confidence[here] = np.where(known, np.where(renamed, RENAMED, BY_NAME), BY_ORDER)


def left(names: np.ndarray, places: list[int]) -> tuple[np.ndarray, np.ndarray]:
    at = np.array(places, np.int64)
    return names[at], at


def has_moved(
    name: int, place: int, others: dict[int, list[tuple[int, int]]], gap: list[int]
) -> bool:
    """Whether a name may be one that is left nearby on the other side, outside of the gap."""
    return any(
        abs(other - place) <= 2 * NEARBY and other not in gap for _, other in others.get(name, ())
    )


def is_alike(of_replay: str, of_graph: str) -> bool:
    """Whether an activity may be of such a launch: copies and memsets may run as kernels."""
    return of_replay == of_graph or of_replay == "kernel"
