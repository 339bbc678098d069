"""Call stacks of spans, by a walk in plain Python and by the SQL."""

from pathlib import Path

import duckdb
import pyarrow as pa

from hta_sql.ingestion.enrich import FILES
from hta_sql.ingestion.stacks import build_stacks

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
        FILES.run(con, name)


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
