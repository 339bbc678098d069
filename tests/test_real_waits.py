"""sync_points, memory_timeline and memory_peak on real traces, against their JSON in plain Python.

HTA has no such figures.
"""

import json
from collections import defaultdict
from dataclasses import dataclass
from functools import cache

import pytest
from queries.brute_memory import memory_peak, memory_timeline
from queries.brute_waits import sync_points
from raw_events import is_host_op, is_over, walked
from raw_json import RawTrace
from real_files import TRACES

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not TRACES.is_dir(), reason=f"no real traces: {TRACES} is no folder"),
]

# All calls of these traces that wait by their names, and those that copy synchronously by theirs.
WAITS = {
    "cudaDeviceSynchronize",
    "cudaStreamSynchronize",
    "cudaEventSynchronize",
    "hipDeviceSynchronize",
    "hipEventSynchronize",
    "synchronizeStream",
    "synchronize",
}
SYNCHRONOUS = {"cudaMemcpy", "hipMemcpyWithStream"}
# How many instants traces tell, of those that tell any.
INSTANTS = {"h100_bert": 236, "mi300_bert": 236, "vllm_decode_capture": 1184}


@pytest.fixture(scope="session")
def trace(raw_trace: RawTrace) -> RawTrace:
    return raw_trace


@dataclass(repr=False)
class Tables:
    """Of one trace; pytest would take minutes to show them where a test fails."""

    activities: list[dict]
    ops: list[dict]


@pytest.fixture(scope="session")
def tables(trace) -> Tables:
    """From the JSON alone."""
    key = {"job": trace.file.job, "rank": trace.file.rank}
    spans = {span.event_id: span for span in trace.spans}
    cuts, threads = {}, defaultdict(list)
    for span in trace.spans:
        if is_host_op(span.cat):
            threads[span.pid, span.tid].append(span)
    for thread in threads.values():
        before = []
        for span, callers in walked(thread):
            for left in before[len(callers) :]:
                if not is_over(left, span):
                    cuts[left.event_id] = span.start_ns
            before = [*callers, span]
    ops = [
        key
        | row
        | {
            "pid": str(spans[row["event_id"]].pid),
            "tid": str(spans[row["event_id"]].tid),
            "end_ns": spans[row["event_id"]].end_ns,
            "cut_ns": cuts.get(row["event_id"]),
        }
        for row in trace.host_ops
    ]
    activities = []
    for row in trace.activities:
        launch = spans.get(row["launch_id"])
        activities.append(
            key
            | row
            | {"launch_name": launch and launch.name, "launch_end_ns": launch and launch.end_ns}
        )
    return Tables(activities, ops)


# Steps of most traces that have any, but never all.
GIVEN = ({}, {"only_steps": [1, 4, 6, 101, 102, 551, 1009, 1013]})
BUCKETS = (None, 1000, 1_000_000)


@pytest.fixture(scope="session")
def results(real_run):
    """What queries say of the whole archive, by trace: call it as a query."""

    @cache
    def of_archive(query, given):
        found = defaultdict(list)
        for row in real_run.query(query, **dict(given)).to_pylist():
            found[row["job"], row["rank"]].append(row)
        return found

    def of_trace(query, trace, **given):
        hashable = tuple(
            (name, tuple(v) if isinstance(v, list) else v)
            for name, v in given.items()
            if v is not None
        )
        return of_archive(query, hashable)[trace.file[:2]]

    return of_trace


@pytest.mark.parametrize("given", GIVEN, ids=["all", "steps"])
def test_waits(results, trace, tables, given):
    wanted = sync_points(tables.activities, tables.ops, WAITS, SYNCHRONOUS, **given)
    assert results("sync_points", trace, **given) == wanted


@pytest.mark.parametrize("given", GIVEN, ids=["all", "steps"])
def test_memory(results, trace, tables, given):
    key = {"job": trace.file.job, "rank": trace.file.rank}
    events = [
        key
        | {
            "event_id": event_id,
            "ph": event["ph"],
            "name": event["name"],
            "pid": str(event["pid"]),
            "tid": str(event["tid"]),
            "start_ns": trace.start_ns(event),
            "args": json.dumps(event["args"]),
        }
        for event_id, event in enumerate(trace.events)
        if event.get("name") == "[memory]"
    ]
    marks = [
        key
        | {
            "event_id": span.event_id,
            "step": step,
            "start_ns": span.start_ns,
            "end_ns": span.end_ns,
        }
        for step, span in trace.step_marks
    ]
    assert len(events) == INSTANTS.get(trace.file.job, 0)
    wanted = list(memory_peak(events, tables.ops, marks, **given))
    assert results("memory_peak", trace, **given) == wanted
    for bucket_ns in BUCKETS:
        wanted = list(memory_timeline(events, marks, bucket_ns, **given))
        assert results("memory_timeline", trace, bucket_ns=bucket_ns, **given) == wanted


def test_totals_follow_from_the_changes(real_run):
    """In these traces each total is the one before and the change; so none is missing."""
    rows = real_run.memory_timeline().to_pylist()
    last = {}
    for row in rows:
        key = row["job"], row["rank"], row["device"], row["device_type"]
        if key in last:
            assert row["allocated_bytes"] == last[key] + row["change_bytes"]
        last[key] = row["allocated_bytes"]
    assert set(last) == {
        ("h100_bert", 0, -1, 0),
        ("h100_bert", 0, 0, 1),
        ("mi300_bert", 0, -1, 0),
        ("mi300_bert", 0, 0, 6),
        ("vllm_decode_capture", 0, 0, 6),
    }


def test_copies_into_pageable_memory_do_return_late(real_run):
    """What the rule says of them is what they did: all calls returned after the copy's end."""
    [row] = real_run.sql("""
        SELECT count(*) AS copies, count_if(launch_end_ns >= end_ns) AS late
        FROM gpu_activities WHERE name = 'Memcpy DtoH (Device -> Pageable)'
    """).to_pylist()
    assert row == {"copies": 137, "late": 137}


def test_which_waits_real_traces_have(real_run):
    rows = real_run.sync_points().to_pylist()
    assert {row["name"] for row in rows if row["kind"] == "wait"} == WAITS
    assert {row["name"] for row in rows if row["kind"] == "copy"} == {
        "cudaMemcpy",
        "cudaMemcpyAsync",
        "hipMemcpyWithStream",
    }
    # Those of b200_eager, mtia_inference, no_gpu_events and some of others' are of CPU tensors:
    # they call nothing.
    assert {
        (row["job"], row["rank"]): row["count"] for row in rows if row["name"] == "aten::item"
    } == {
        ("event_sync", 0): 1,
        ("h100_bert", 0): 1,
        ("mi300_bert", 0): 1,
        ("sglang_prefill", 0): 3,
        ("trace_diff/control", 3): 24,
        ("trace_diff/test", 1): 24,
        ("two_ranks", 0): 3,
        ("two_ranks", 1): 4,
    }
