"""Call stacks by SQL against a plain stack walk: nested, crossing, empty and equal spans."""

import random
from contextlib import closing
from itertools import count

import duckdb
import pyarrow as pa
import pytest

from hta_sql.ingest import trace
from hta_sql.ingest.trace import build_stack, connect, enrichment, number_threads, run_file

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
def con(tmp_path_factory) -> duckdb.DuckDBPyConnection:
    return connect(tmp_path_factory.mktemp("staging"))


def given(con: duckdb.DuckDBPyConnection, spans: list[tuple]) -> None:
    """What comes before a call stack: spans, their threads, steps."""
    rows = [
        (event_id, "X", category_of(event_id), name_of(event_id), "1", str(thread), start,
         end - start, 1 if begins_backward(event_id) else None)
        for event_id, thread, start, end in spans
    ]  # fmt: skip
    con.execute("""
        CREATE OR REPLACE TEMP TABLE trace_events (
            event_id BIGINT, ph VARCHAR, cat VARCHAR, name VARCHAR, pid VARCHAR, tid VARCHAR,
            start_ns BIGINT, dur_ns BIGINT, fwd_thread_id BIGINT
        );
        CREATE OR REPLACE TEMP TABLE forward_ops (event_id BIGINT, forward_id BIGINT);
        CREATE OR REPLACE TEMP TABLE step_segments (number BIGINT, start_ns BIGINT, step BIGINT);
    """)
    columns = list(zip(*rows, strict=True)) or [()] * 9
    types = [pa.int64(), *[pa.string()] * 5, *[pa.int64()] * 3]
    arrays = [pa.array(column, type_) for column, type_ in zip(columns, types, strict=True)]
    table = pa.table(arrays, [f"c{at}" for at in range(9)])
    con.register("given", table)
    con.execute("INSERT INTO trace_events FROM given")
    con.executemany(
        "INSERT INTO step_segments VALUES (?, ?, ?)",
        [(number, *step) for number, step in enumerate(STEPS, start=1)],
    )
    number_threads(con)
    run_file(con, "host_spans")


def stacks(con: duckdb.DuckDBPyConnection, spans: list[tuple]) -> dict[int, tuple]:
    """event_id → (depth, parent, root, op, annotation, module, backward) as in ingest."""
    given(con, spans)
    build_stack(con)
    rows = con.execute(
        "SELECT event_id, depth, parent_id, root_id, op_id, annotation_id, module_id, backward_id,"
        " step, stack_hash FROM stack"
    ).fetchall()
    assert len(rows) == len(spans)
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
            outer for outer, on, *times in reversed(in_order[:place])
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
def test_drawn(con, picture, parents):
    found = stacks(con, drawn(picture))
    assert [found[event_id][1] for event_id in range(len(parents))] == parents
    assert found == walk(drawn(picture))


@pytest.mark.parametrize("seed", range(60))
def test_random_spans(con, seed):
    """Anything goes: crossing, touching, equal, empty, on several threads."""
    rng = random.Random(seed)
    instants = rng.choice([6, 20, 200])
    spans = []
    for event_id in rng.sample(range(1000), rng.choice([0, 1, 5, 40, 120])):
        start = rng.randrange(instants)
        length = rng.choice([0, 0, 1, 2, rng.randrange(instants)])
        spans.append((event_id, rng.randrange(3), start, start + length))
    assert stacks(con, spans) == walk(spans)


@pytest.mark.parametrize("seed", range(20))
def test_random_nesting(con, seed):
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
    assert stacks(con, spans) == walk(spans)


def test_deep_stack(con):
    depth = 5_000
    spans = [(level, 0, level, 2 * depth - level) for level in range(depth)]
    found = stacks(con, spans)
    assert found == walk(spans)
    assert found[depth - 1][:3] == (depth - 1, depth - 2, 0)


def test_times_since_1970_beside_zero(con):
    """A stray stamp of 0 must not overflow the order of instants."""
    now = 1_760_000_000_000_000_000
    spans = [(0, 0, 0, 5), (1, 0, now, now + 10), (2, 0, now + 1, now + 2), (3, 1, now, now + 1)]
    assert stacks(con, spans) == walk(spans)


@pytest.mark.parametrize("seed", range(5))
def test_threads_decades_long(con, seed):
    """One behind the other they need more than 64 bits; what crosses is found all the same."""
    rng = random.Random(seed)
    now = 1_760_000_000_000_000_000
    spans = []
    for thread in range(8):
        for start in (thread, now):
            for _ in range(6):
                start += rng.randrange(4)
                spans.append((len(spans), thread, start, start + rng.randrange(8)))
    assert stacks(con, spans) == walk(spans)


def test_no_quadratic_join(con):
    """Equality with two inequalities would be planned as a hash join, quadratic in a thread."""
    given(con, [(i, i % 3, i * 5, i * 5 + i % 97) for i in range(100_000)])
    for name in ("callers", "nesting", "callers", "call_stack", "tails"):
        for statement in map(str.strip, enrichment(name).split(";\n")):
            if "CREATE OR REPLACE TEMP TABLE" in statement:
                query = statement[statement.index(" AS\n") + 4 :]
                plan = con.execute(f"EXPLAIN {query}").fetchall()[0][1]
                if "crossing.start_at" in query or "inside.start_at" in query:
                    assert "IE Join" in plan
                assert not {"Nested Loop Join", "Nl Join", "Asof Join"} & set(names_in(plan))
            con.execute(statement)


def names_in(plan: str) -> list[str]:
    return [line.strip("╭─╮ ┴┸") for line in plan.splitlines()]


def test_windows_run_over_rows_as_they_stand(con):
    """A sort for each window would cost more than all the rest."""
    given(con, [(i, i % 3, i * 5, i * 5 + i % 97) for i in range(10_000)])
    view, begun, callers = enrichment("callers").split(";\n")[:3]
    con.execute(view)
    for statement, windows in ((begun, 2), (callers, 3)):
        plan = con.execute(f"EXPLAIN {statement[statement.index('WITH') :]}").fetchall()[0][1]
        assert plan.count("─ Streaming Window ─") == windows
        assert plan.count("─ Order By ─") == 1
        con.execute(statement)


def test_instants_take_64_bits(con):
    """With 128 the large sort takes half as long again."""
    given(con, [(i, i % 3, i * 5, i * 5 + i % 97) for i in range(100)])
    assert con.execute("SELECT DISTINCT typeof(start_at) FROM host_spans").fetchall() == [
        ("BIGINT",)
    ]


def test_what_just_fits_spills(tmp_path, monkeypatch):
    """A tenth of the memory for a tenth of a large trace; with all of it for sorts, none is left
    for the tables between."""
    monkeypatch.setattr(trace, "MEMORY_LIMIT", "40MB")
    monkeypatch.setattr(trace, "OPERATOR_MEMORY_LIMIT", "20MB")
    with closing(connect(tmp_path)) as con:
        spans = [(4 * i + 3, i % 3, i * 10, i * 10 + i * 7919 % 1000) for i in range(450_000)]
        given(con, spans)
        run_file(con, "callers")
        run_file(con, "call_stack")
        assert con.execute("SELECT count(*), max(depth) > 1 FROM stack").fetchall() == [
            (len(spans), True)
        ]
