"""How host_ops is written: beside events row group by row group, in their order."""

import hashlib
import random
from functools import lru_cache
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hand_written import ingested, rows, span, trace_text
from seeds import seeds

from hta_sql.ingestion import stacks, stream, trace
from hta_sql.store import row_groups

WORDS = {
    "Input Dims": "input_dims",
    "Input type": "input_types",
    "Concrete Inputs": "concrete_inputs",
}


def table_file(folder: Path, table: str) -> pq.ParquetFile:
    [file] = (folder / "archive" / table).rglob("*.parquet")
    return pq.ParquetFile(file)


def calls(rng: random.Random, count: int) -> list[dict]:
    """Operators that call a launch each, or none, on two threads, with kernels and instants
    between."""
    events = []
    for i in range(count):
        thread, ts = 1 + i % 2, 100 * i
        words = {name: rng.choice(["[]", "[[2, 3]]", ""]) for name in WORDS if rng.random() < 0.7}
        operator = span(f"op{rng.randrange(9)}", ts, 50, tid=thread, **words)
        launch = span("cudaLaunchKernel", ts + 10, 5, "cuda_runtime", tid=thread, correlation=i + 1)
        kernel = span(f"kernel{i}", ts + 20, 30, "kernel", 0, 7, stream=7, correlation=i + 1)
        mark = {
            "ph": "i",
            "cat": "cpu_instant_event",
            "name": f"mark{i}",
            "pid": 1,
            "tid": 1,
            "ts": ts,
            "s": "t",
        }
        events += [operator, *rng.sample([launch, kernel, mark], rng.randrange(1, 4))]
    return events


@pytest.mark.parametrize("seed", seeds(6))
def test_row_groups_and_chunks_of_a_few(tmp_path, seed, monkeypatch):
    """What an event says stands in its own row, and who called it, wherever the cuts are."""
    rng = random.Random(seed)
    monkeypatch.setattr(row_groups, "ROW_GROUP_ROWS", [1, 7, 50][seed % 3])
    monkeypatch.setattr(row_groups, "ROW_GROUP_BYTES", [1 << 30, 3_000][seed % 2])
    monkeypatch.setattr(stacks, "CHUNK_ROWS", [3, 1 << 17][seed // 3])
    # A row group is one piece at least.
    monkeypatch.setattr(stream, "READ_BYTES", 500)
    monkeypatch.setattr(stream, "PIECE_BYTES", 2_000)
    events = calls(rng, 60)
    rng.shuffle(events)
    with ingested(tmp_path, trace_text(events)) as archive:
        found = archive.sql(
            "SELECT event_id, cat, name, tid, start_ns, dur_ns, parent_id, root_id, depth, op_id,"
            " correlation, input_dims, input_types, concrete_inputs FROM host_ops ORDER BY event_id"
        ).to_pylist()
    with table_file(tmp_path, "events") as file:
        assert file.num_row_groups > 3
    with table_file(tmp_path, "host_ops") as file:
        ids = file.read(["event_id"])["event_id"].to_pylist()
        assert ids == [row["event_id"] for row in found]
    host = {
        at: event for at, event in enumerate(events) if event["cat"] in ("cpu_op", "cuda_runtime")
    }
    starts = {(event["ts"], event["tid"]): at for at, event in host.items()}
    expected = []
    for at, event in host.items():
        caller = starts.get((event["ts"] - 10, event["tid"]))
        args = event["args"]
        expected.append(
            {
                "event_id": at,
                "cat": event["cat"],
                "name": event["name"],
                "tid": str(event["tid"]),
                "start_ns": event["ts"] * 1000,
                "dur_ns": event["dur"] * 1000,
                "parent_id": caller,
                "root_id": at if caller is None else caller,
                "depth": int(caller is not None),
                "op_id": caller,
                "correlation": args.get("correlation"),
                **{column: args.get(name) for name, column in WORDS.items()},
            }
        )
    assert found == expected


def test_row_groups_end_by_bytes(tmp_path, monkeypatch):
    """Rows of long arguments do not wait in memory for each other, piece by piece."""
    monkeypatch.setattr(row_groups, "ROW_GROUP_BYTES", 5_000_000)
    long = "z" * 100_000
    events = [span(f"op{i}", i, 1, **{"Concrete Inputs": f"{i}{long}"}) for i in range(400)]
    with ingested(tmp_path, trace_text(events)) as archive:
        found = rows(archive, "SELECT name, concrete_inputs FROM host_ops ORDER BY event_id")
    assert found == [(f"op{i}", f"{i}{long}") for i in range(400)]
    for table in ("events", "host_ops"):
        with table_file(tmp_path, table) as file:
            assert file.num_row_groups == 3  # 40 MB come in pieces of 14


def test_words_of_others_are_not_written(tmp_path):
    marks = [
        {"ph": "i", "name": f"a mark of its own name, {i}", "pid": 1, "tid": 1, "ts": i}
        for i in range(3000)
    ]
    with ingested(tmp_path, trace_text([*marks, span("aten::add", 1, 2)])) as archive:
        assert rows(archive, "SELECT name FROM host_ops") == [("aten::add",)]
    with table_file(tmp_path, "host_ops") as file:
        at = file.schema_arrow.get_field_index("name")
        assert file.metadata.row_group(0).column(at).total_uncompressed_size < 200


def test_readers_of_arrow_find_plain_columns(tmp_path):
    with ingested(tmp_path, trace_text([span("aten::add")])):
        pass
    with table_file(tmp_path, "host_ops") as file:
        types = {field.name: str(field.type) for field in file.schema_arrow}
    assert types["name"] == "string" and types["stack_hash"] == "uint64"
    assert types["depth"] == "int32" and types["is_backward"] == "bool"


@pytest.mark.parametrize("name", ["null", None])
def test_a_thread_of_operators_without_names(tmp_path, name):
    """Nothing says that autograd runs on it, and nothing that it does not."""
    text = '{"ph": "X", "cat": "cpu_op", "pid": 1, "tid": 2, "ts": 5, "dur": 1%s}'
    nameless = text % (f', "name": {name}' if name else "")
    with ingested(tmp_path, trace_text([span("aten::add", 1, 2), nameless])) as archive:
        found = rows(archive, "SELECT name, tid, depth FROM host_ops ORDER BY event_id")
    assert found == [("aten::add", "1", 0), (None, "2", 0)]


def cut(name: str) -> str:
    digits = hashlib.md5(name.encode()).hexdigest()
    return name if len(name.encode()) <= 16_384 else f"{name[:1000]}... {digits}"


def test_long_names_are_cut_in_what_is_derived(tmp_path):
    """Above 16 kB, alike in both tables, by characters, also those of processes and threads; what
    differs at the end still does."""
    names = ["é" * 8_192, "é" * 8_193, "é" * 8_193 + "a", "é" * 8_193 + "b", "aten::add"]
    events = []
    for i, name in enumerate(names):
        events += [
            span(name, 100 * i, 50, pid=name, tid=name),
            span(f"cuda{name}", 100 * i + 1, 5, "cuda_runtime", name, name, correlation=i + 1),
            span(name, 100 * i + 20, 5, "kernel", 0, 7, device=0, stream=7, correlation=i + 1),
        ]
    with ingested(tmp_path, trace_text(events)) as archive:
        whole = rows(archive, "SELECT name FROM events WHERE cat = 'kernel' ORDER BY event_id")
        host = rows(archive, "SELECT name, pid, tid, depth FROM host_ops ORDER BY start_ns")
        whole_threads = rows(archive, "SELECT DISTINCT tid FROM events WHERE cat = 'cpu_op'")
        kernels = rows(
            archive,
            """
            SELECT name, short_name, launch_name, launch_pid, launch_tid
            FROM gpu_activities
            ORDER BY start_ns
        """,
        )
    assert whole == [(name,) for name in names]
    assert sorted(whole_threads) == sorted((name,) for name in names)
    assert host == [
        (cut(called), cut(name), cut(name), depth)
        for name in names
        for depth, called in enumerate((name, f"cuda{name}"))
    ]
    assert kernels == [
        (cut(name), cut(name), cut(f"cuda{name}"), cut(name), cut(name)) for name in names
    ]


def test_long_names_tell_what_whole_ones_do(tmp_path):
    """A kernel's function and kind, a step's number, and that a thread is autograd's."""
    templates = "cutlass::Shape<128>, " * 2_000
    kernel = f"void cutlass::Kernel<{templates}int>(Params)"
    reduction = f"void f<{templates}AllReduceOp>(Params)"
    absurd = f"void ncclKernel<{templates * 2}>(Params)"  # above 64 kB only its beginning tells
    step = "ProfilerStep#5" + " " * 20_000
    events = [
        span(step, 0, 100, "user_annotation"),
        span("aten::add", 10, 5),
        span("x" * 20_000 + "autograd::engine", 20, 5, tid=2),
        span(kernel, 30, 5, "kernel", 0, 7, device=0, stream=7),
        span(reduction, 40, 5, "kernel", 0, 7, device=0, stream=7),
        span(absurd, 50, 5, "kernel", 0, 7, device=0, stream=7),
    ]
    with ingested(tmp_path, trace_text(events)) as archive:
        host = rows(archive, "SELECT event_id, step, caller_id FROM host_ops ORDER BY event_id")
        found = rows(archive, "SELECT name, short_name, kind FROM gpu_activities ORDER BY start_ns")
    assert host == [(0, 5, None), (1, 5, None), (2, 5, 0)]
    assert found == [
        (cut(kernel), "cutlass::Kernel", "computation"),
        (cut(reduction), "f", "communication"),
        (cut(absurd), cut(absurd), "communication"),
    ]


@pytest.mark.big
@pytest.mark.parametrize("where", ["name", "pid", "tid"])
def test_many_long_names_fit_into_little_memory(tmp_path, monkeypatch, where):
    """Far more text than DuckDB may use, and no two names alike."""
    monkeypatch.setattr(trace, "MEMORY_LIMIT", "200MB")
    monkeypatch.setattr(trace, "database", lru_cache(trace.database.__wrapped__))
    long = "x" * 2_000_000
    file = tmp_path / "rank_0.json"
    file.write_text(
        trace_text(
            [
                span(ts=10 * i, dur=5, cat=cat, device=0, stream=7) | {where: f"{long}{i}"}
                for i in range(50)
                for cat in ("kernel", "cpu_op")
            ]
        )
    )
    facts = trace.ingest_trace(file, tmp_path / "work/staging").facts
    counted = ("event_count", "gpu_activity_count", "host_op_count")
    assert [facts[name] for name in counted] == [100, 50, 50]
