"""Longest paths and replays in a graph of numbered nodes, in time linear in its edges.

Edges are parallel arrays: the `source` node, the `target` node, and the time that the edge takes.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

NONE = -1
NEVER = -(1 << 62)
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


class Chains:
    """The nodes of a graph as chains: runs of consecutive numbers, each from a head to its end.

    The only edge to each node after the head comes from the node before. So what happens on a chain
    follows from its head, and only heads are visited one by one. Nodes are numbered along threads
    and streams: chains are long.
    """

    def __init__(
        self,
        source: np.ndarray,
        target: np.ndarray,
        node_count: int,
        alone: np.ndarray | None = None,
    ):
        """The nodes `alone` are heads."""
        self.source, self.target = source, target
        may_follow = np.bincount(target, minlength=node_count) == 1
        if alone is not None:
            may_follow[alone] = False
        is_link = (source + 1 == target) & may_follow[target]
        self._links, self.to_heads = np.flatnonzero(is_link), np.flatnonzero(~is_link)
        self._link = np.full(node_count, NONE)  # by node: the edge from the node before
        self._link[target[self._links]] = self._links
        is_head = self._link == NONE
        self.heads = np.flatnonzero(is_head)
        self.chain = np.cumsum(is_head) - 1  # by node: the number of its chain

    def places(self) -> np.ndarray:
        """The place of each node in an order in which edges go forward.

        Raises ValueError if there is none, because of a cycle.
        """
        edges, count = self.to_heads, len(self.heads)
        from_chain, to_chain = self.chain[self.source[edges]], self.chain[self.target[edges]]
        order = topological_order(from_chain, to_chain, count)
        if len(order) < count:
            raise ValueError(f"{count - len(order)} chains of nodes are on or behind a cycle")
        nodes = np.arange(len(self.chain))
        length = np.diff(self.heads, append=len(nodes))[order]
        first = np.empty(count, dtype=np.int64)
        first[order] = np.cumsum(length) - length
        return nodes + (first - self.heads)[self.chain]

    def in_order(self, places: np.ndarray) -> np.ndarray:
        """The edges to heads, each after all edges that lead to its source."""
        return self.to_heads[np.argsort(places[self.target[self.to_heads]], kind="stable")]

    def since_head(self, taken: np.ndarray) -> np.ndarray:
        """The time from the head of each node's chain to the node, if edges take this time."""
        since = np.zeros(len(self.chain), dtype=np.int64)
        since[self.target[self._links]] = taken[self._links]
        np.cumsum(since, out=since)
        return since - since[self.heads][self.chain]

    def way_to(self, end: int, through: np.ndarray) -> np.ndarray:
        """The edges to the node `end`, first to last.

        `through` is the edge that reaches the head of each chain.
        """
        way = []
        edge = NONE
        while True:
            chain = self.chain[end]
            way.append(self._link[self.heads[chain] + 1 : end + 1])
            edge = through[chain]
            if edge == NONE:
                return np.concatenate(way[::-1])
            way.append([edge])
            end = self.source[edge]


def without_circles(
    source: np.ndarray, target: np.ndarray, at: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Which edges to keep so that no circle is left, and the nodes' places in an order of these.

    `at` is the time of each node. If there is a circle, the edges are kept that go forward in time,
    or to a node at the same time with a higher number. Circles exist only if clocks disagree or a
    trace is wrong.
    """
    try:
        return np.ones(len(source), dtype=bool), Chains(source, target, len(at)).places()
    except ValueError:
        places = np.empty(len(at), dtype=np.int64)
        places[np.argsort(at, kind="stable")] = np.arange(len(at))
        return places[source] < places[target], places


def longest_path(
    source: np.ndarray,
    target: np.ndarray,
    taken: np.ndarray,
    at: np.ndarray,
    places: np.ndarray | None = None,
) -> np.ndarray:
    """The edges of the path that takes the longest time, from first to last.

    `taken` is the time that each edge takes, at least 0; `at` is the time of each node; `places`
    are the places of the nodes in an order in which edges go forward, if they are known. If several
    ways to a node are equally long, the one whose last edge comes first in the arrays counts. The
    path ends at the farthest node; if several are equally far, at the earliest of them.
    """
    if not len(source):
        return np.empty(0, dtype=np.int64)
    chains = Chains(source, target, len(at))
    edges = chains.in_order(chains.places() if places is None else places)
    since = chains.since_head(taken)
    far = [0] * len(chains.heads)
    through = [NONE] * len(chains.heads)
    before, after = chains.chain[source[edges]], chains.chain[target[edges]]
    for edge, chain, next_chain, takes in rows(
        edges, before, after, since[source[edges]] + taken[edges]
    ):
        reached = far[chain] + takes
        if through[next_chain] == NONE or reached > far[next_chain]:
            far[next_chain], through[next_chain] = reached, edge
    since += np.array(far, dtype=np.int64)[chains.chain]
    farthest = np.flatnonzero(since == since.max())
    return chains.way_to(farthest[np.argmin(at[farthest])], through)


def rows(*columns: np.ndarray) -> Iterator[tuple[int, ...]]:
    """Parallel arrays row by row."""
    for start in range(0, len(columns[0]), CHUNK):
        yield from zip(*(c[start : start + CHUNK].tolist() for c in columns), strict=True)


class Replay:
    """Computes the time of each node: when all nodes that it waits for have come, plus delays."""

    def __init__(
        self, source: np.ndarray, target: np.ndarray, earliest: np.ndarray, places: np.ndarray
    ):
        """`earliest` is the time before which a node does not come, or NEVER: a node that waits for
        nothing needs one. `places` are the nodes' places in an order in which edges go forward.
        """
        self.chains = Chains(source, target, len(earliest), alone=earliest != NEVER)
        self._edges = self.chains.in_order(places)
        self._source = source[self._edges]
        self._before = self.chains.chain[self._source]
        self._after = self.chains.chain[target[self._edges]]
        self._earliest = earliest[self.chains.heads]

    def times(self, delay: np.ndarray) -> np.ndarray:
        """The time of each node, if each edge has this delay."""
        since = self.chains.since_head(delay)
        at = self._earliest.tolist()
        takes = since[self._source] + delay[self._edges]
        for before, after, taken in rows(self._before, self._after, takes):
            then = at[before] + taken
            if then > at[after]:
                at[after] = then
        return since + np.array(at, dtype=np.int64)[self.chains.chain]
