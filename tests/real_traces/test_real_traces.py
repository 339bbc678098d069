"""The archive of real traces, against their JSON recomputed in plain Python."""

import json

import pytest
import raw_events
import real_files
from raw_events import whole_number
from raw_json import RawTrace
from real_files import TRACE_FILES, TRACES
from real_traces.rows import ACTIVITY_COLUMNS, rows_of

pytestmark = pytest.mark.skipif(
    not TRACES.is_dir(), reason=f"no real traces: {TRACES} is no folder"
)


# All events are compared in traces up to this size, every eleventh in larger ones; the times of
# their activities and host operations all the same.
ALL_EVENTS_UP_TO = 30_000


def test_every_trace_is_read(real_run):
    files = {
        path.relative_to(TRACES).as_posix()
        for pattern in ("*.json", "*.json.gz")
        for path in TRACES.rglob(pattern)
    }
    assert files == {file.path for file in TRACE_FILES} | real_files.OTHER_FILES
    read = real_run.sql("SELECT job, rank FROM traces ORDER BY ALL").to_pylist()
    assert [(row["job"], row["rank"]) for row in read] == [file[:2] for file in TRACE_FILES]


def test_traces(real_run, trace):
    [row] = real_run.sql(
        "FROM traces WHERE job = $job AND rank = $rank",
        {"job": trace.file.job, "rank": trace.file.rank},
    ).to_pylist()
    distributed = trace.metadata.get("distributedInfo", {})
    devices = trace.metadata.get("deviceProperties", [])
    expected = {
        "path": str(TRACES / trace.file.path),
        "file_bytes": (TRACES / trace.file.path).stat().st_size,
        "status": "complete",
        "event_count": len(trace.events),
        "quarantined_count": 0,
        "gpu_activity_count": len(trace.activities),
        "host_op_count": len(trace.host_ops),
        "start_ns": min(span.start_ns for span in trace.spans),
        "end_ns": max(span.end_ns for span in trace.spans),
        "base_ns": trace.base_ns,
        "world_size": distributed.get("world_size"),
        "backend": distributed.get("backend"),
        "device_name": devices[0]["name"] if devices else None,
        "device_count": len(devices) or None,
    }
    assert {column: row[column] for column in expected} == expected
    assert raw_events.parse(row["metadata"]) == trace.metadata
    if "rank" in distributed:
        assert int(distributed["rank"]) == row["rank"]


def test_every_element_is_an_event_or_in_quarantine(real_run, trace):
    ids = [row["event_id"] for row in rows_of(real_run, "events", trace.file, ["event_id"])]
    bad = [row["event_id"] for row in rows_of(real_run, "quarantine", trace.file, ["event_id"])]
    assert sorted(ids + bad) == list(range(len(trace.events)))


def as_text(value) -> str | None:
    """A JSON scalar in a column of text: words as they are, anything else as JSON has it."""
    return value if value is None or isinstance(value, str) else json.dumps(value)


TEXTS = ["ph", "cat", "name", "pid", "tid", "id", "bp", "s"]


def expected_event(trace: RawTrace, event_id: int) -> dict:
    event = trace.events[event_id]
    args = event.get("args")
    row = {"event_id": event_id} | {column: as_text(event.get(column)) for column in TEXTS}
    row["start_ns"] = trace.start_ns(event) if event["ph"] != "M" else None
    row["dur_ns"] = raw_events.nanoseconds(event["dur"]) if event["ph"] == "X" else None
    row["end_ns"] = row["start_ns"] + row["dur_ns"] if event["ph"] == "X" else None
    for column, argument in [
        ("correlation", "correlation"),
        ("external_id", "External id"),
        ("device", "device"),
    ]:
        row[column] = whole_number((args or {}).get(argument))
    return row | {"args": args}


def test_events(real_run, trace):
    each = 1 if len(trace.events) <= ALL_EVENTS_UP_TO else 11
    wanted = [expected_event(trace, at) for at in range(0, len(trace.events), each)]
    found = rows_of(
        real_run, f"(FROM events WHERE event_id % {each} = 0)", trace.file, list(wanted[0])
    )
    for row in found:
        row["args"] = None if row["args"] is None else raw_events.parse(row["args"])
    assert len(found) == len(wanted)
    assert [pair for pair in zip(found, wanted, strict=True) if pair[0] != pair[1]] == []


def test_gpu_activities(real_run, trace):
    assert bool(trace.activities) == trace.file.has_gpu
    found = rows_of(real_run, "gpu_activities", trace.file, ACTIVITY_COLUMNS)
    assert [row["event_id"] for row in found] == [row["event_id"] for row in trace.activities]
    wrong = [pair for pair in zip(found, trace.activities, strict=True) if pair[0] != pair[1]]
    assert wrong == []


def test_launches(real_run, trace):
    found = rows_of(
        real_run,
        "gpu_activities",
        trace.file,
        [
            "launch_id",
            "launch_name",
            "launch_pid",
            "launch_tid",
            "launch_start_ns",
            "launch_end_ns",
        ],
    )
    calls = {span.event_id: span for span in trace.launches.values()}
    for row in found:
        if row["launch_id"] is None:
            assert set(row.values()) == {None}
            continue
        call = calls[row["launch_id"]]
        assert list(row.values()) == [
            call.event_id,
            call.name,
            str(call.pid),
            str(call.tid),
            call.start_ns,
            call.end_ns,
        ]
