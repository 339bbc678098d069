"""A rank's trace with counters, as HTA's generate_trace_with_counters writes it."""

import gzip

import orjson
import pytest
from export.conftest import added, exported, invoke, ns, own

import hta_sql


def test_trace_with_counters(archive, source, tmp_path):
    trace = exported("counters", archive, tmp_path / "c.json.gz", "--only-ranks", 2)
    count = len(source[2]["traceEvents"])
    # What was there first, and nothing between.
    assert [e for e in trace["traceEvents"][:count]] == own(trace)
    assert [(e["ph"], e["name"], e.get("ts")) for e in own(trace) if e["ph"] != "M"] == [
        (e["ph"], e["name"], e.get("ts")) for e in source[2]["traceEvents"] if e["ph"] != "M"
    ]
    counters = added(trace, "C")
    assert count + len(counters) == len(trace["traceEvents"])
    base = trace["baseTimeNanoseconds"]
    with hta_sql.open(archive) as run:
        queue = run.queue_length_series(only_ranks=[2]).to_pylist()
        copies = run.memory_bandwidth_series(only_ranks=[2]).to_pylist()
    assert [
        (e["pid"], ns(e) + base, e["name"], e["id"], e["args"])
        for e in counters
        if e["name"].startswith("Queue")
    ] == [
        (2, row["at_ns"], queue_of(row), row["stream"], {"(launches)": row["queue_length"]})
        for row in queue
    ]
    assert [
        (e["pid"], ns(e) + base, e["name"], e["args"])
        for e in counters
        if e["name"].startswith("Mem")
    ] == [
        (2, row["at_ns"], f"{row['copy_kind']} bandwidth", {"(GB/s)": row["bandwidth_gbps"]})
        for row in copies
    ]
    assert {e["name"] for e in counters} == {"GPU busy"} | {
        *map(queue_of, queue),
        *(f"{row['copy_kind']} bandwidth" for row in copies),
    }


def queue_of(row: dict) -> str:
    return f"Queue length of stream {row['stream']}"


def test_queues_walked_by_hand(archive, source, tmp_path):
    """Up at a launch, down at a start; from the trace alone."""
    trace = exported(
        "counters", archive, tmp_path / "c.json", "--only-ranks", 0, "--counters", "queue"
    )
    events = source[0]["traceEvents"]
    launches = {
        e["args"]["correlation"]: ns(e)
        for e in events
        if e.get("cat") in ("cuda_runtime", "cuda_driver")
    }
    for stream in {e["id"] for e in added(trace, "C")}:
        changes = []
        for event in events:
            if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset") and (
                event["tid"] == stream and event["args"]["correlation"] in launches
            ):
                changes.append((launches[event["args"]["correlation"]], -1))
                changes.append((ns(event), 1))
        length, wanted = 0, []
        for at, sign in sorted(changes):
            length -= sign
            wanted.append((at, length))
        found = [(ns(e), e["args"]["(launches)"]) for e in added(trace, "C") if e["id"] == stream]
        assert found == wanted and len(found) > 10


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (
            [],
            1,
            "Error: this export takes one rank, not 3 (0, 1, 2); choose one with --only-ranks\n",
        ),
        (
            ["--only-ranks", "0,2"],
            1,
            "Error: this export takes one rank, not 2 (0, 2); choose one with --only-ranks\n",
        ),
        (["--only-ranks", "5"], 2, "Error: job 'llama' has no rank 5; its ranks are 0 to 2\n"),
        (["--job", "x"], 2, "Error: the archive has no job 'x'; it has 'llama'\n"),
    ],
)
@pytest.mark.parametrize("command", ["counters", "sequences"])
def test_one_rank_has_to_be_chosen(archive, tmp_path, command, words, status, says):
    more = ["--operator", "aten::"] if command == "sequences" else []
    result = invoke(command, archive, tmp_path / "c.json", *more, *words)
    assert (result.exit_code, result.stderr) == (status, says)
    assert list(tmp_path.iterdir()) == []


def test_a_rank_without_a_device(tmp_path):
    """Nothing to count, and no device to show it at."""
    (tmp_path / "cpu").mkdir()
    trace = {
        "traceEvents": [
            {
                "ph": "X",
                "cat": "cpu_op",
                "name": "a",
                "pid": 1,
                "tid": 1,
                "ts": 5.25,
                "dur": 1,
                "args": {},
            }
        ]
    }
    (tmp_path / "cpu/rank_0.json.gz").write_bytes(gzip.compress(orjson.dumps(trace)))
    hta_sql.ingest([tmp_path / "cpu"], tmp_path / "archive")
    for command in ("counters", "perfetto"):
        found = exported(command, tmp_path / "archive", tmp_path / f"{command}.json")
        assert found["traceEvents"] == trace["traceEvents"]
