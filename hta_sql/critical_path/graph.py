"""Longest paths in an acyclic graph of numbered nodes, in time linear in its edges.

Edges are parallel arrays: the `source` node, the `target` node, and the time that the edge takes.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

NONE = -1
# A loop over Python's own integers is fast, but they take ten times the memory of an array.
CHUNK = 200_000


def topological_order(source: np.ndarray, target: np.ndarray, node_count: int) -> np.ndarray:
    """The nodes in an order in which edges go forward, without those on or behind a cycle."""
    missing = np.bincount(target, minlength=node_count).tolist()
    by_source = np.argsort(source, kind="stable")
    targets = target[by_source].tolist()
    first = np.searchsorted(source[by_source], np.arange(node_count + 1)).tolist()
    order = [node for node, count in enumerate(missing) if not count]
    for node in order:  # the loop appends to it
        for edge in range(first[node], first[node + 1]):
            reached = targets[edge]
            missing[reached] -= 1
            if not missing[reached]:
                order.append(reached)
    return np.array(order, dtype=np.int64)


def against_time(source: np.ndarray, target: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Which edges to remove so that no circle is left; none if there is no circle.

    These edges go back in time, or to a node at the same time with a lower or equal number. Circles
    exist only if clocks disagree or a trace is wrong.
    """
    if len(topological_order(source, target, len(at))) == len(at):
        return np.zeros(len(source), dtype=bool)
    forward = at[source] < at[target]
    return ~(forward | ((at[source] == at[target]) & (source < target)))


def in_order(source: np.ndarray, target: np.ndarray, node_count: int) -> np.ndarray:
    """The edges, each after all edges that lead to its source; raises ValueError on a cycle."""
    order = topological_order(source, target, node_count)
    if len(order) < node_count:
        raise ValueError(f"{node_count - len(order)} nodes are on or behind a cycle")
    place = np.empty(node_count, dtype=np.int64)
    place[order] = np.arange(node_count)
    return np.argsort(place[target], kind="stable")


def longest_path(
    source: np.ndarray, target: np.ndarray, taken: np.ndarray, at: np.ndarray
) -> np.ndarray:
    """The edges of the path that takes the longest time, from first to last.

    `taken` is the time that each edge takes, at least 0; `at` is the time of each node. If several
    ways to a node are equally long, the one whose last edge comes first in the arrays counts. The
    path ends at the farthest node; if several are equally far, at the earliest of them.
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
    """The edges to the node `end`, first to last; `through` is the edge that reaches each node."""
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
    """Computes the time of each node: when all nodes that it waits for have come, plus delays."""

    def __init__(
        self, source: np.ndarray, target: np.ndarray, earliest: dict[int, int], count: int
    ):
        """`earliest` maps nodes to times before which they do not come; it has all nodes that wait
        for nothing.
        """
        self._edges = in_order(source, target, count)
        self._source, self._target = source[self._edges], target[self._edges]
        self._earliest, self._count = earliest, count

    def times(self, delay: np.ndarray) -> np.ndarray:
        """The time of each node, if each edge has this delay."""
        never = -(1 << 62)
        at = [never] * self._count
        for node, start in self._earliest.items():
            at[node] = start
        for before, node, takes in rows(self._source, self._target, delay[self._edges]):
            then = at[before] + takes
            if then > at[node]:
                at[node] = then
        return np.array(at, dtype=np.int64)
