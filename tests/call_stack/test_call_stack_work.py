"""Call stacks: shapes, and work that grows with the spans."""

import random
from itertools import pairwise

import numpy as np
import pytest
from call_stack.spans import found_stacks, walk
from seeds import seeds

from hta_sql.ingestion import nesting, stacks

# Of many spans each, (thread, start, end); what an event is follows from its number.
SHAPES = {
    "staircase": lambda n: [(0, 10 * i, 10 * i + 15) for i in range(n)],
    "all cross all": lambda n: [(0, i, i + 10 * n) for i in range(n)],
    "open over all the others": lambda n: [
        *[(0, i, 20 * n + i) for i in range(n // 10)],
        *[(0, n + 10 * i, n + 10 * i + 15 - i % 7) for i in range(n)],
    ],
    "crossed from the inside out": lambda n: [
        *[(0, i, 10 * n - 3 * i) for i in range(n)],
        *[(0, 2 * n + i, 10 * n - 3 * (n - 1 - i) + 1) for i in range(n)],
    ],
    "a deep stack, again and again": lambda n: [
        (0, 1000 * turn + level, 1000 * turn + 900 - level)
        for turn in range(3)
        for level in range(n // 3)
    ],
    "a thread a span": lambda n: [(i, 5 * (i % 3), 5 * (i % 3) + i % 11) for i in range(n)],
    "no lengths": lambda n: [(0, i // 3, i // 3) for i in range(n)],
    "all equal": lambda n: [(0, 5, 9) for i in range(n)],
    "no lengths among others": lambda n: [(0, i // 2, i // 2 + i % 3) for i in range(n)],
}


@pytest.mark.parametrize("seed", seeds(4))
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.usefixtures("any_chunks")
def test_shapes(con, folder, shape, seed):
    spans = [(i, *span) for i, span in enumerate(SHAPES[shape](90))]
    assert found_stacks(con, folder, spans) == walk(spans)


@pytest.mark.parametrize("shape", SHAPES)
def test_work_grows_with_the_spans(shape, monkeypatch):
    """What is looked at: spans in passes over leaves, and tails that are moved when one is added.
    Four times the spans make at most five times the work."""

    def work(n: int) -> int:
        looked_at = 0
        leaves, add = nesting.leaves, nesting.LastAround._add

        def counted_leaves(starts, ends, until, left, goes_on_at):
            nonlocal looked_at
            looked_at += len(left)
            return leaves(starts, ends, until, left, goes_on_at)

        def counted_add(self, new):
            nonlocal looked_at
            before = len(self._counting)
            add(self, new)
            looked_at += 1 + max(0, before - len(self._counting))

        with monkeypatch.context() as patched:
            patched.setattr(nesting, "leaves", counted_leaves)
            patched.setattr(nesting.LastAround, "_add", counted_add)
            spans = sorted(((s, -e) for _, s, e in SHAPES[shape](n)))
            starts, ends = (np.array(list(c)) for c in zip(*spans, strict=True))
            found = nesting.nest(starts, -ends)
            assert len(found.walked) + sum(map(len, found.settled)) == len(starts)
            outer = [nesting.Outer(at, -ends[at], at) for at in found.crossed.tolist()]
            nesting.LastAround().find(
                found.cut_at.tolist(), outer, starts.tolist(), (-ends).tolist()
            )
        return looked_at

    assert work(40_000) <= 5 * work(10_000)


@pytest.mark.parametrize("seed", seeds(30))
def test_last_around(seed):
    rng = random.Random(seed)
    reach = rng.choice([5, 30])
    outer = sorted(
        (rng.randrange(reach), rank, rng.randrange(2 * reach))
        for rank in rng.sample(range(100), rng.randrange(12))
    )
    inner = sorted((s := rng.randrange(reach), s + rng.choice([0, 1, 4])) for _ in range(20))
    expected = [
        max(
            (
                (rank, until, rank * 7)
                for begin, rank, until in outer
                if begin <= start < until and end <= until
            ),
            default=None,
        )
        for start, end in inner
    ]
    around, found = nesting.LastAround(), []
    at = [0, *sorted(rng.sample(range(reach), rng.randrange(4))), reach]
    for begin, end in pairwise(at):
        batch = [
            (first, nesting.Outer(rank, until, rank * 7))
            for first, rank, until in outer
            if begin <= first < end
        ]
        inside = [span for span in inner if begin <= span[0] < end]
        found += around.find(
            [first for first, _ in batch],
            [new for _, new in batch],
            [start for start, _ in inside],
            [until for _, until in inside],
        )
        around.drop(end)
    assert found == expected


# 2,000 spans of a thread, of which none, nearly all or half are open at once.
DEEP = {
    "in one": [(0, 0, 0, 10**9)] + [(i, 0, 10 * i, 10 * i + 9) for i in range(1, 2_000)],
    "in each other": [(i, 0, i, 10**6 - i) for i in range(2_000)],
    "alike": [(i, 0, 5, 10) for i in range(2_000)],
    "closed at once": [
        (i, 0, i, 3_000 - i) if i < 1_000 else (i, 0, 10 * i, 10 * i + 5) for i in range(2_000)
    ],
    "closed one by one": [
        (i, 0, i, 4_000 - i) if i < 1_000 else (i, 0, 2_001 + i, 2_001 + i) for i in range(2_000)
    ],
    "crossing each other": [(i, 0, i, 10_000 + i) for i in range(2_000)],
    "crossed one by one": [
        (i, 0, i, 4_000 - i) if i < 1_000 else (i, 0, 1_000 + i, 2_001 + i) for i in range(2_000)
    ],
}


@pytest.mark.parametrize("shape", DEEP)
def test_spans_are_read_in_pieces(con, folder, monkeypatch, shape):
    """A trace of any size takes the memory of a chunk and of what is open, and of that only what a
    chunk may close or cross is looked at again; a tail is added once."""
    sizes, tails = [], []
    nest, find = stacks.nest, stacks.LastAround.find

    def noted(starts, *rest):
        sizes.append(len(starts))
        return nest(starts, *rest)

    def found_around(self, begins, outer, *inside):
        tails.append(len(outer))
        return find(self, begins, outer, *inside)

    monkeypatch.setattr(stacks, "CHUNK_ROWS", 200)
    monkeypatch.setattr(stacks, "nest", noted)
    monkeypatch.setattr(stacks.LastAround, "find", found_around)
    assert found_stacks(con, folder, DEEP[shape]) == walk(DEEP[shape])
    assert len(sizes) == 10 and sum(sizes) <= 3_500
    assert sum(tails) <= 2_000
