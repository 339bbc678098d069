"""The rows of gpu_activities: all, in order, however wide they are and wherever they wait."""

import gzip
import json
import random

import pyarrow.parquet as pq
import pytest
from hand_written import span, trace_text
from seeds import seeds

from hta_sql.ingestion import gpu_activities, trace

COLUMNS = ["device", "start_ns", "event_id", "name", "process_group_ranks", "bytes"]


@pytest.mark.parametrize("seed", seeds(12))
@pytest.mark.parametrize("where", ["held", "in a file", "in a file, part by part"])
def test_order(tmp_path, monkeypatch, where, seed):
    rng = random.Random(seed)
    if where != "held":
        monkeypatch.setattr(gpu_activities, "MOST_BYTES", 0)
    if where == "in a file, part by part":
        monkeypatch.setattr(gpu_activities, "ROW_GROUP_ROWS", rng.choice([1, 7, 40]))
        monkeypatch.setattr(gpu_activities, "VECTOR_ROWS", 8)
        monkeypatch.setattr(gpu_activities, "VECTOR_BYTES", rng.choice([1, 5_000, 1 << 20]))
    expected, events = [], []
    for event_id in range(rng.choice([0, 1, 300])):
        if rng.random() < 0.3:
            events.append(span("mm", rng.randrange(99), 5))
            continue
        device, ts, size = rng.randrange(3), rng.randrange(40), rng.randrange(10**6)
        ranks = None if rng.random() < 0.7 else json.dumps([rng.randrange(512)] * rng.randrange(99))
        given = {"bytes": size} | ({"Process Group Ranks": ranks} if ranks else {})
        events.append(
            span(
                f"gemm {size}",
                ts,
                rng.randrange(9),
                "kernel",
                pid=device,
                tid=7,
                device=device,
                stream=7,
                **given,
            )
        )
        expected.append((device, ts * 1000, event_id, f"gemm {size}", ranks, size))
    file = tmp_path / "rank_0.json"
    file.write_text(trace_text(events))
    staging = tmp_path / "staging"
    count = trace.ingest_trace(file, staging, threads=1 + seed % 2).facts["gpu_activity_count"]
    found = pq.read_table(staging / "gpu_activities.parquet")
    rows = [tuple(row[name] for name in COLUMNS) for row in found.to_pylist()]
    assert rows == sorted(expected)
    assert count == len(expected)
    assert {path.suffix for path in staging.iterdir()} == {".parquet"}


@pytest.mark.big
@pytest.mark.parametrize("threads", [1, 2])
def test_lists_of_thousands_of_ranks(tmp_path, threads):
    """As each collective of a large job has one: 190 MB of them, in DuckDB's 400 MB."""
    ranks, count = json.dumps(list(range(4096))), 8_000
    file = tmp_path / "rank_0.json.gz"
    with gzip.open(file, "wt", compresslevel=1) as out:
        out.write('{"schemaVersion": 1, "baseTimeNanoseconds": 0, "traceEvents": [')
        for i in range(count):
            given = {"Collective name": "allreduce", "Process Group Ranks": ranks}
            event = span(
                "ncclDevKernel_AllReduce", i, 1, "kernel", pid=0, tid=7, device=0, stream=7, **given
            )
            out.write("," * (i > 0) + json.dumps(event))
        out.write("]}")
    staging = tmp_path / "staging"
    assert trace.ingest_trace(file, staging, threads=threads).facts["status"] == "complete"
    with pq.ParquetFile(staging / "gpu_activities.parquet") as rows:
        assert rows.metadata.num_rows == count
        for batch in rows.iter_batches(500, columns=["process_group_ranks"]):
            assert batch.column(0).unique().to_pylist() == [ranks]


@pytest.mark.big
@pytest.mark.parametrize("threads", [1, 2])
def test_sizes_in_more_than_three_numbers(tmp_path, threads):
    """A kernel has three. Where arguments are long, more are not read: as numbers these lists would
    take 160 MB beside each other."""
    longer = {"grid": list(range(5, 10_005)), "block": [1, 2]}
    kernels = [longer] * 1_000 + [
        {"grid": [1, 2, 3], "block": longer["grid"]},
        {"block": [4, 5, 6], "note": json.dumps(longer), "inside": {"grid": [7]}},
        {"grid": [], "note": "n" * 5_000},
        {"grid": 7, "note": "n" * 5_000},
    ]
    file = tmp_path / "rank_0.json"
    file.write_text(
        trace_text([span("k", i, 1, "kernel", 0, 7, **given) for i, given in enumerate(kernels)])
    )
    staging = tmp_path / "staging"
    assert trace.ingest_trace(file, staging, threads=threads).facts["quarantined_count"] == 0
    sizes = pq.read_table(staging / "gpu_activities.parquet", columns=["grid", "block"]).to_pylist()
    found = [(row["grid"], row["block"]) for row in sizes]
    assert found[:1_000] == [([5, 6, 7], [1, 2])] * 1_000
    assert found[1_000:] == [([1, 2, 3], [5, 6, 7]), (None, [4, 5, 6]), ([], None), (None, None)]


@pytest.mark.big
@pytest.mark.parametrize("threads", [1, 2])
def test_thousands_of_long_names(tmp_path, threads):
    """None is cut, and 150 MB of them fit where one thread reads them."""
    count, name = 10_000, "k" * 15_000
    file = tmp_path / "rank_0.json.gz"
    with gzip.open(file, "wt", compresslevel=1) as out:
        out.write('{"schemaVersion": 1, "baseTimeNanoseconds": 0, "traceEvents": [')
        for i in range(count):
            event = span(f"{i}{name}", i, 1, "kernel", pid=0, tid=7, device=0, stream=7)
            out.write("," * (i > 0) + json.dumps(event))
        out.write("]}")
    staging = tmp_path / "staging"
    assert trace.ingest_trace(file, staging, threads=threads).facts["gpu_activity_count"] == count
    with pq.ParquetFile(staging / "gpu_activities.parquet") as rows:
        for column in ("name", "short_name"):
            names = (
                name.as_py()
                for batch in rows.iter_batches(500, columns=[column])
                for name in batch.column(0)
            )
            assert all(found == f"{i}{name}" for i, found in enumerate(names))
