"""Longest paths and replays on small and random graphs, beside trying every way."""

import random

import numpy as np
import pytest
from seeds import seeds

from hta_sql.critical_path.graph import (
    NEVER,
    Chains,
    Replay,
    longest_path,
    topological_order,
    without_circles,
)


def arrays(edges):
    """Of (source, target, what it takes)."""
    columns = [np.array(column, dtype=np.int64) for column in zip(*edges, strict=True)]
    return columns or [np.empty(0, dtype=np.int64)] * 3


def random_graph(rng):
    """Acyclic. In half of the graphs, edges lead to higher numbers, and some nodes form chains."""
    count = rng.choice([1, 2, 5, 9])
    names = rng.sample(range(count), count) if rng.random() < 0.5 else list(range(count))
    edges = [
        (names[i], names[j], rng.choice([0, 0, 1, 4, 9]))
        for i in range(count)
        for j in range(i + 1, count)
        for _ in range(rng.choice([0, 0, 1, 2]))
    ]
    at = [0] * count
    edges += [
        (i, i + 1, rng.choice([0, 2, 7]))
        for i in range(count - 1)
        if names == sorted(names) and rng.random() < 0.8
    ]
    rng.shuffle(edges)
    for place, name in enumerate(names):
        at[name] = place // 2
    return edges, np.array(at, dtype=np.int64)


@pytest.mark.parametrize("seed", seeds(200))
def test_longest_path_is_the_longest_of_all_ways(seed):
    edges, at = random_graph(random.Random(seed))
    source, target, taken = arrays(edges)
    way = longest_path(source, target, taken, at)

    def ways(node):
        yield 0
        for s, t, takes in edges:
            if s == node:
                yield from (takes + rest for rest in ways(t))

    assert taken[way].sum() == max((w for node in range(len(at)) for w in ways(node)), default=0)
    assert (target[way[:-1]] == source[way[1:]]).all()


def test_longest_path_ends_where_nothing_is_added():
    # 0 -5-> 1 -0-> 2, and 3 alone: it need not go on to 2.
    source, target, taken = arrays([(0, 1, 5), (1, 2, 0)])
    assert longest_path(source, target, taken, np.array([0, 5, 6, 0])).tolist() == [0]


def test_of_equally_long_ways_the_first_edge_counts():
    source, target, taken = arrays([(0, 2, 3), (1, 2, 3)])
    assert longest_path(source, target, taken, np.array([0, 0, 3])).tolist() == [0]
    source, target, taken = arrays([(1, 2, 3), (0, 2, 3)])
    assert longest_path(source, target, taken, np.array([0, 0, 3])).tolist() == [0]


def test_no_edges():
    source, target, taken = arrays([])
    assert longest_path(source, target, taken, np.array([4, 7])).tolist() == []
    assert longest_path(source, target, taken, np.empty(0, dtype=np.int64)).tolist() == []


@pytest.mark.parametrize("seed", seeds(100))
def test_order(seed):
    rng = random.Random(seed)
    edges, at = random_graph(rng)
    source, target, _ = arrays(edges)
    order = topological_order(source, target, len(at)).tolist()
    assert sorted(order) == list(range(len(at)))
    assert all(order.index(s) < order.index(t) for s, t, _ in edges)
    places = Chains(source, target, len(at)).places()
    assert sorted(places.tolist()) == list(range(len(at)))
    assert (places[source] < places[target]).all()


def test_chains():
    """A chain ends where a node has another edge to it, or is alone, or is not the next one."""
    #   0 -> 1 -> 2 -> 3 -> 4    5 -> 6
    #        +--------------+>   ^
    source, target, taken = arrays([(0, 1, 5), (1, 2, 7), (2, 3, 1), (3, 4, 1), (1, 4, 9)])
    chains = Chains(source, target, 6)
    assert chains.heads.tolist() == [0, 4, 5] and chains.to_heads.tolist() == [3, 4]
    assert chains.since_head(taken).tolist() == [0, 5, 12, 13, 0, 0]
    assert chains.way_to(4, [-1, 3, -1]).tolist() == [0, 1, 2, 3]
    alone = Chains(source, target, 6, alone=np.arange(6) == 2)
    assert alone.heads.tolist() == [0, 2, 4, 5] and alone.to_heads.tolist() == [1, 3, 4]


def test_circles():
    """Of 0 -> 1 -> 2 -> 1 the edge that goes back in time is left out; nothing where none is."""
    source, target, _ = arrays([(0, 1, 0), (1, 2, 0), (2, 1, 0), (0, 2, 0)])
    assert kept(source, target, [0, 5, 9]) == [True, True, False, True]
    assert topological_order(source, target, 3).tolist() == [0]
    with pytest.raises(ValueError, match="2 chains of nodes are on or behind a cycle"):
        Chains(source, target, 3).places()
    source, target, _ = arrays([(1, 0, 0)])  # backwards, but no circle
    assert kept(source, target, [0, 5]) == [True]
    source, target, _ = arrays([(0, 1, 0), (1, 0, 0)])  # at one instant
    assert kept(source, target, [3, 3]) == [True, False]


def kept(source, target, at):
    """Which edges stay. In the order of the nodes, they go forward."""
    keep, places = without_circles(source, target, np.array(at))
    assert (places[source] < places[target])[keep].all()
    return keep.tolist()


@pytest.mark.parametrize("seed", seeds(100))
def test_replay(seed):
    rng = random.Random(seed)
    edges, at = random_graph(rng)
    reached = {t for _, t, _ in edges}
    starts = {node: rng.randrange(9) for node in range(len(at)) if node not in reached}
    starts |= {node: rng.randrange(30) for node in range(len(at)) if rng.random() < 0.2}
    source, target, delay = arrays(edges)
    earliest = np.array([starts.get(node, NEVER) for node in range(len(at))], dtype=np.int64)
    replay = Replay(source, target, earliest, Chains(source, target, len(at)).places())
    for delays in (delay, delay // 2, -delay):
        wanted = [by_recursion(edges, delays.tolist(), starts, node) for node in range(len(at))]
        assert replay.times(delays).tolist() == wanted


def by_recursion(edges, delays, starts, node):
    came = [
        by_recursion(edges, delays, starts, source) + delay
        for (source, target, _), delay in zip(edges, delays, strict=True)
        if target == node
    ]
    return max([*came, starts.get(node, NEVER)])
