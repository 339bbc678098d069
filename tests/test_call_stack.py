"""Call stacks against a plain stack walk: nested, crossing, empty and equal spans."""

import random
from itertools import count, pairwise
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from hta_sql.ingestion import nesting, stacks
from hta_sql.ingestion.enrich import run_file
from hta_sql.ingestion.stacks import build_stacks
from hta_sql.ingestion.trace import connect

STEPS = [(5, 1), (12, None), (40, 2), (90, None)]  # (start_ns, step): until the next one starts


def is_op(event_id: int) -> bool:
    """What a span is; by its number, so that every picture and random case mixes them."""
    return event_id % 4 == 0


def is_annotation(event_id: int) -> bool:
    return event_id % 4 == 1


def is_module(event_id: int) -> bool:
    return event_id % 4 == 2


def begins_backward(event_id: int) -> bool:
    return event_id % 8 == 0


def name_of(event_id: int) -> str:
    return f"{'nn.Module: ' if is_module(event_id) else ''}{event_id % 5}"


def category_of(event_id: int) -> str:
    return ("cpu_op", "user_annotation", "python_function", "cuda_runtime")[event_id % 4]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("staging")


@pytest.fixture(scope="module")
def con(folder) -> duckdb.DuckDBPyConnection:
    return connect(folder)


def given(con: duckdb.DuckDBPyConnection, spans: list[tuple]) -> None:
    """What comes before a call stack: spans, their threads, steps."""
    rows = [
        (
            event_id,
            "X",
            category_of(event_id),
            name_of(event_id),
            "1",
            str(thread),
            start,
            end - start,
            1 if begins_backward(event_id) else None,
        )
        for event_id, thread, start, end in spans
    ]
    con.execute("""
        CREATE OR REPLACE TEMP TABLE whole_events (
            event_id BIGINT, ph VARCHAR, cat VARCHAR, name VARCHAR, pid VARCHAR, tid VARCHAR,
            start_ns BIGINT, dur_ns BIGINT, fwd_thread_id BIGINT
        );
        CREATE OR REPLACE TEMP MACRO has_long_names() AS false;
        CREATE OR REPLACE TEMP TABLE forward_ops (event_id BIGINT, forward_id BIGINT);
        CREATE OR REPLACE TEMP TABLE step_segments (start_ns BIGINT, step BIGINT);
    """)
    columns = list(zip(*rows, strict=True)) or [()] * 9
    types = [pa.int64(), *[pa.string()] * 5, *[pa.int64()] * 3]
    arrays = [pa.array(column, type_) for column, type_ in zip(columns, types, strict=True)]
    table = pa.table(arrays, [f"c{at}" for at in range(9)])
    con.register("given", table)
    con.execute("INSERT INTO whole_events FROM given")
    con.executemany("INSERT INTO step_segments VALUES (?, ?)", STEPS)
    for name in ("trace_events", "threads", "host_spans"):
        run_file(con, name)


def found_stacks(
    con: duckdb.DuckDBPyConnection, folder: Path, spans: list[tuple]
) -> dict[int, tuple]:
    """event_id → (depth, parent, root, op, annotation, module, backward) as in ingest."""
    given(con, spans)
    ids = sorted(span[0] for span in spans)
    places = build_stacks(con, folder / "stack.arrow", ids[::7]).places
    columns = [
        "event_id",
        "depth",
        "parent_id",
        "root_id",
        "op_id",
        "annotation_id",
        "module_id",
        "backward_id",
        "step",
        "stack_hash",
    ]
    parts = [part.select(columns) for part in places.parts()]
    rows = [tuple(row.values()) for part in parts for row in part.to_pylist()]
    assert [row[0] for row in rows] == ids
    assert {row[0]: row[-2] for row in rows} == {span[0]: step_at(span[2]) for span in spans}
    found = {row[0]: row[1:-2] for row in rows}
    # Hashes are equal exactly where the names of the stacks are.
    hashes: dict[tuple, int] = {}
    for row in rows:
        path, at = [], row[0]
        while at is not None:
            path.append(name_of(at))
            at = found[at][1]
        assert hashes.setdefault(tuple(path), row[-1]) == row[-1]
    assert len(set(hashes.values())) == len(hashes)
    return found


def step_at(start: int) -> int | None:
    return next((step for begin, step in reversed(STEPS) if begin <= start), None)


def walk(spans: list[tuple]) -> dict[int, tuple]:
    """The same by a stack: what has ended, or ends before the newcomer does, is popped.

    But operator, annotation, module and backward pass are the last of what began before and
    encloses the newcomer; a backward pass also itself.
    """
    found = {}
    open_spans: dict[int, list[tuple]] = {}
    in_order = sorted(spans, key=lambda s: (s[1], s[2], -s[3], s[0]))
    for place, (event_id, thread, start, end) in enumerate(in_order):
        stack = open_spans.setdefault(thread, [])
        while stack and not encloses(stack[-1], (start, end)):
            stack.pop()
        parent = stack[-1][2] if stack else None
        root = stack[0][2] if stack else event_id
        around = [
            outer
            for outer, on, *times in reversed(in_order[:place])
            if on == thread and encloses(tuple(times), (start, end))
        ]
        innermost = [
            next((outer for outer in around if kind(outer)), None)
            for kind in (is_op, is_annotation, is_module, begins_backward)
        ]
        if begins_backward(event_id):
            innermost[-1] = event_id
        found[event_id] = (len(stack), parent, root, *innermost)
        stack.append((start, end, event_id))
    return found


def encloses(outer: tuple, inner: tuple) -> bool:
    if outer[:2] == inner:
        return True
    return outer[0] <= inner[0] < outer[1] and inner[1] <= outer[1]


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


@pytest.fixture
def any_chunks(seed, monkeypatch) -> None:
    """Chunks of a few spans, and leaves taken many at a time always, never, or as usual."""
    monkeypatch.setattr(stacks, "CHUNK_ROWS", [1, 2, 7, 1 << 19][seed % 4])
    monkeypatch.setattr(nesting, "WORTHWHILE", [1, 32, 1_000_000][seed % 3])


@pytest.mark.parametrize("seed", range(60))
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


@pytest.mark.parametrize("seed", range(20))
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


@pytest.mark.parametrize("seed", range(24))
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


@pytest.mark.parametrize("seed", range(4))
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


@pytest.mark.parametrize("seed", range(30))
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
