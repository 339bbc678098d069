"""Call stacks as drawn and of random spans."""

import random
from itertools import count

import numpy as np
import pytest
from call_stack.spans import found_stacks, walk
from seeds import seeds

from hta_sql.ingestion import stacks


def drawn(picture: str) -> list[tuple]:
    """`[==)` from its first to its last column; `|` is a span of no length. A line a span."""
    spans = []
    for event_id, line in enumerate(filter(str.strip, picture.splitlines())):
        line = line.split("#")[0].rstrip()
        start = len(line) - len(line.lstrip())
        spans.append((event_id, 0, start, start if line.strip() == "|" else len(line) - 1))
    return spans


@pytest.mark.parametrize(
    ("picture", "parents"),
    [
        (
            """
            [==================)    # 0
              [=====)               # 1
                [=)                 # 2
                    [====)          # 3, where 1 ends
                               [=)  # 4, where 0 ends
            """,
            [None, 0, 1, 0, None],
        ),
        (
            """
            [=======)               # 0
            [=======)               # 1, equal to 0: the lower id is the outer
            [=======)               # 2
            """,
            [None, 0, 1],
        ),
        (
            """
              [======)              # 0, crossed by 1
                  [=========)       # 1
                [====)              # 2, crossed by 1 too
                [=)                 # 3 in 2
                    [=)             # 4 in 1
                         [=)        # 5 in 1
                              [=)   # 6
            """,
            [None, None, 0, 2, 1, 1, None],
        ),
        (
            """
            [====================)  # 0
              [=====)               # 1
                   [=======)        # 2 crosses 1, both in 0
                        |           # 3 in 2
            """,
            [None, 0, 0, 2],
        ),
        (
            """
            [=====)                 # 0
                  |                 # 1, where 0 ends: not in it
            """,
            [None, None],
        ),
        (
            """
            [=====)                 # 0
            |                       # 1, where 0 begins: in it
            |                       # 2 equal to 1
                  [==)              # 3
                  |                 # 4 in 3
            """,
            [None, 0, 1, None, 3],
        ),
    ],
)
def test_drawn(con, folder, picture, parents):
    found = found_stacks(con, folder, drawn(picture))
    assert [found[event_id][1] for event_id in range(len(parents))] == parents
    assert found == walk(drawn(picture))


@pytest.mark.parametrize("seed", seeds(60))
@pytest.mark.usefixtures("any_chunks")
def test_random_spans(con, folder, seed):
    """Anything goes: crossing, touching, equal, empty, on several threads."""
    rng = random.Random(seed)
    instants = rng.choice([6, 20, 200])
    spans = []
    for event_id in rng.sample(range(1000), rng.choice([0, 1, 5, 40, 120])):
        start = rng.randrange(instants)
        length = rng.choice([0, 0, 1, 2, rng.randrange(instants)])
        spans.append((event_id, rng.randrange(3), start, start + length))
    assert found_stacks(con, folder, spans) == walk(spans)


@pytest.mark.parametrize("seed", seeds(20))
@pytest.mark.usefixtures("any_chunks")
def test_random_nesting(con, folder, seed):
    """Well nested, as programs are: children back to back, some of them empty."""
    rng = random.Random(seed)
    ids = count()
    spans = []

    def call(thread: int, start: int, end: int, depth: int) -> None:
        spans.append((next(ids), thread, start, end))
        at = start + rng.randrange(3)
        while depth and at < end and rng.random() < 0.8:
            length = rng.randrange(1 + min(end - at, 1 + (end - start) // 2))
            call(thread, at, at + length, depth - 1)
            at += length + rng.randrange(2)

    for thread in range(3):
        call(thread, rng.randrange(5), 400, 6)
    rng.shuffle(spans)
    assert found_stacks(con, folder, spans) == walk(spans)


@pytest.mark.big
def test_deep_stack(con, folder):
    depth = 5_000
    spans = [(level, 0, level, 2 * depth - level) for level in range(depth)]
    found = found_stacks(con, folder, spans)
    assert found == walk(spans)
    assert found[depth - 1][:3] == (depth - 1, depth - 2, 0)


def test_times_since_1970_beside_zero(con, folder):
    """A stray stamp of 0 must not overflow the order of instants."""
    now = 1_760_000_000_000_000_000
    spans = [(0, 0, 0, 5), (1, 0, now, now + 10), (2, 0, now + 1, now + 2), (3, 1, now, now + 1)]
    assert found_stacks(con, folder, spans) == walk(spans)


@pytest.mark.parametrize("seed", seeds(24))
@pytest.mark.usefixtures("any_chunks")
def test_threads_decades_long(con, folder, seed):
    """One behind the other they need more than 64 bits; what crosses is found all the same."""
    rng = random.Random(seed)
    now = 1_760_000_000_000_000_000
    spans = []
    for thread in range(8):
        for start in (thread, now):
            for _ in range(6):
                start += rng.randrange(4)
                spans.append((len(spans), thread, start, start + rng.randrange(8)))
    assert found_stacks(con, folder, spans) == walk(spans)


def test_many_threads_decades_long(con, folder, monkeypatch):
    """They need a line for every other thread, and yet are not taken line by line."""
    calls = []
    take = stacks.Stacks.take
    monkeypatch.setattr(
        stacks.Stacks, "take", lambda self, *given: calls.append(1) or take(self, *given)
    )
    now = 1_760_000_000_000_000_000
    starts = [(id_ % 6 > 2) * now + 10 * (id_ % 3) for id_ in range(3_000)]
    spans = [(id_, id_ // 6, start, start + id_ % 17) for id_, start in enumerate(starts)]
    assert found_stacks(con, folder, spans) == walk(spans)
    assert len(calls) == 3


def test_instants_of_several_lines_are_numbered():
    rng = np.random.default_rng(5)
    line = np.sort(rng.integers(3, 9, 200))
    start_at = rng.integers(0, 40, 200)
    start_ns = start_at + 1_000 * line  # each line is one thread here
    length = rng.integers(0, 9, 200)
    spans = {"start_at": start_at, "end_at": start_at + length, "start_ns": start_ns}
    chunk = stacks.numbered(spans, line)
    for name, expected in (("start_at", start_ns), ("end_at", start_ns + length)):
        assert (chunk.ns(chunk.spans[name], shift=None) == expected).all()
    at = np.concatenate([chunk.spans["start_at"], chunk.spans["end_at"]])
    ns = np.concatenate([start_ns, start_ns + length])
    assert (np.unique(ns, return_inverse=True)[1] == at).all()
