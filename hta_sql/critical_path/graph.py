"""Longest paths over an acyclic graph of numbered nodes, in time linear in its edges.

Edges are parallel arrays: `source` and `target` node, and what passing takes.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

NONE = -1
# Python's own integers are fast to go through one by one, but take ten times the memory.
CHUNK = 200_000


def topological_order(source: np.ndarray, target: np.ndarray, node_count: int) -> np.ndarray:
    """The nodes so that every edge goes forward; those on or behind a cycle are left out."""
    missing = np.bincount(target, minlength=node_count).tolist()
    by_source = np.argsort(source, kind="stable")
    targets = target[by_source].tolist()
    first = np.searchsorted(source[by_source], np.arange(node_count + 1)).tolist()
    order = [node for node, count in enumerate(missing) if not count]
    for node in order:  # grows meanwhile
        for edge in range(first[node], first[node + 1]):
            reached = targets[edge]
            missing[reached] -= 1
            if not missing[reached]:
                order.append(reached)
    return np.array(order, dtype=np.int64)


def against_time(source: np.ndarray, target: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Edges to leave out so that no circle is left; none where there is none.

    They go back in time, or at one instant to a node with a lower number. Only clocks that
    disagree, or a trace that is wrong, make circles.
    """
    if len(topological_order(source, target, len(at))) == len(at):
        return np.zeros(len(source), dtype=bool)
    forward = at[source] < at[target]
    return ~(forward | ((at[source] == at[target]) & (source < target)))


def in_order(source: np.ndarray, target: np.ndarray, node_count: int) -> np.ndarray:
    """The edges so that each comes behind all that lead to its source; ValueError on a cycle."""
    order = topological_order(source, target, node_count)
    if len(order) < node_count:
        raise ValueError(f"{node_count - len(order)} nodes are on or behind a cycle")
    place = np.empty(node_count, dtype=np.int64)
    place[order] = np.arange(node_count)
    return np.argsort(place[target], kind="stable")


def longest_path(
    source: np.ndarray, target: np.ndarray, taken: np.ndarray, at: np.ndarray
) -> np.ndarray:
    """The edges of the path that takes most, from its first to its last.

    `taken` is what an edge takes, at least 0; `at` when each node came. Of equally long ways to a
    node the edge that comes first in the arrays counts; the path ends where nothing is added any
    more, at the earliest node of equally far ones.
    """
    far = [0] * len(at)
    through = [NONE] * len(at)
    edges = in_order(source, target, len(at))
    for edge, before, node, takes in rows(edges, source[edges], target[edges], taken[edges]):
        reached = far[before] + takes
        if through[node] == NONE or reached > far[node]:
            far[node], through[node] = reached, edge
    if not len(edges):
        return np.empty(0, dtype=np.int64)
    end = np.lexsort((np.arange(len(at)), at, -np.array(far, dtype=np.int64)))[0]
    return way_to(end, source, np.array(through, dtype=np.int64))


def way_to(end: int, source: np.ndarray, through: np.ndarray) -> np.ndarray:
    """The edges to a node, from the first on; `through` is the edge by which each is reached."""
    way = []
    while (edge := through[end]) != NONE:
        way.append(edge)
        end = source[edge]
    return np.array(way[::-1], dtype=np.int64)


def rows(*columns: np.ndarray) -> Iterator[tuple[int, ...]]:
    """Parallel arrays row by row."""
    for start in range(0, len(columns[0]), CHUNK):
        yield from zip(*(c[start : start + CHUNK].tolist() for c in columns), strict=True)


class Replay:
    """When each node comes: once all that it waits for has come, with a delay from each."""

    def __init__(self, source: np.ndarray, target: np.ndarray, starts: dict[int, int], count: int):
        """`starts` are nodes that wait for nothing, and when they come; every other waits."""
        self._edges = in_order(source, target, count)
        self._source, self._target = source[self._edges], target[self._edges]
        self._starts, self._count = starts, count

    def times(self, delay: np.ndarray) -> np.ndarray:
        """The instant of each node."""
        never = -(1 << 62)
        at = [never] * self._count
        for node, start in self._starts.items():
            at[node] = start
        for before, node, takes in rows(self._source, self._target, delay[self._edges]):
            then = at[before] + takes
            if then > at[node]:
                at[node] = then
        return np.array(at, dtype=np.int64)
