"""Idle times cut at the launch, on real traces: against plain Python and other queries."""

from collections import defaultdict

import pytest
from queries import brute_idle_parts
from real_files import TRACES, TraceFile
from test_real_idle import same_row

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not TRACES.is_dir(), reason=f"no real traces: {TRACES} is no folder"),
]


@pytest.fixture(scope="session")
def file(trace_file: TraceFile) -> TraceFile:
    return trace_file


@pytest.mark.parametrize("query", ["idle_time_breakdown", "idle_gaps", "idle_reasons"])
def test_brute_force(real_run, real_rows, query, file):
    tables = [real_rows(table, file.job, file.rank) for table in ("gpu_activities", "host_ops")]
    steps = sorted({row["step"] for row in tables[0] if row["step"] is not None})
    for given in [{"kernel_gap_ns": 2000}, *([{"only_steps": steps[:1]}] if steps else [])]:
        wanted = list(getattr(brute_idle_parts, query)(*tables, **given))
        found = real_run.query(
            query, only_jobs=[file.job], only_ranks=[file.rank], **given
        ).to_pylist()
        assert len(found) == len(wanted)
        assert [pair for pair in zip(found, wanted, strict=True) if not same_row(*pair)] == []


def by(rows, key, column):
    sums = defaultdict(int)
    for row in rows:
        sums[tuple(row[name] for name in key)] += row[column]
    return dict(sums)


DEVICE = ("job", "rank", "device")


def test_parts_of_a_gap_add_up_to_it(real_run):
    """The gaps are those of version 1, which has each in one row."""
    gap = (*DEVICE, "start_ns", "next_event_id")
    parts = real_run.idle_gaps().to_pylist()
    whole = by(real_run.query("idle_gaps", 1).to_pylist(), gap, "gap_ns")
    assert by(parts, gap, "part_ns") == whole
    assert all(row["whole_gap_ns"] == whole[tuple(row[name] for name in gap)] for row in parts)
    ends = {}
    for row in parts:  # in the order of time, without a hole
        key = tuple(row[name] for name in gap)
        assert row["part_start_ns"] == ends.get(key, row["start_ns"])
        ends[key] = row["part_start_ns"] + row["part_ns"]
    shared = real_run.sql(
        "SELECT p.*, idle_since_ns AS start_ns, event_id AS next_event_id, held_ns "
        "FROM job_idle_parts(NULL) AS p LEFT JOIN (SELECT part_number, "
        "sum(segment_ns)::BIGINT AS held_ns FROM job_idle_segments(NULL) GROUP BY ALL) "
        "USING (part_number)"
    ).to_pylist()
    assert by(shared, gap, "part_ns") == by(shared, gap, "held_ns") == whole
    assert len({row["part_number"] for row in shared}) == len(shared) == len(parts)


def test_parts_of_a_device_are_its_idle_time(real_run):
    idle = {
        key: time
        for key, time in by(real_run.temporal_breakdown().to_pylist(), DEVICE, "idle_ns").items()
        if time
    }
    assert len(idle) == 24
    assert by(real_run.idle_gaps().to_pylist(), DEVICE, "part_ns") == idle
    assert by(real_run.idle_reasons().to_pylist(), DEVICE, "idle_ns") == idle


def test_parts_of_a_stream_are_its_idle_time(real_run):
    stream = (*DEVICE, "stream")
    assert by(real_run.idle_time_breakdown().to_pylist(), stream, "idle_ns") == by(
        real_run.query("idle_time_breakdown", 1).to_pylist(), stream, "idle_ns"
    )


def test_waiting_for_the_host_ends_where_the_launch_begins(real_run):
    rows = real_run.sql("""
        SELECT
            g.part_start_ns + g.part_ns AS end_ns,
            g.start_ns + g.whole_gap_ns AS gap_end_ns,
            a.launch_start_ns
        FROM idle_gaps() AS g
        JOIN gpu_activities AS a
            ON a.job = g.job AND a.rank = g.rank AND a.event_id = g.next_event_id
        WHERE g.cause = 'host_wait'
    """).to_pylist()
    assert len(rows) > 1000
    for row in rows:
        assert row["end_ns"] == min(row["launch_start_ns"], row["gap_end_ns"])


def test_real_traces_are_worth_it(real_run):
    """Parts of all causes, with something open on the host and with nothing."""
    counts = defaultdict(int)
    for row in real_run.idle_gaps().to_pylist():
        counts[row["cause"], row["host_event_id"] is not None] += 1
    for cause in ("host_wait", "launching", "queued", "kernel_wait"):
        assert counts[cause, True] > 200, cause
    assert counts["queued", False] > 200
    assert counts["unknown", False] > 150
    assert not counts["unknown", True]
    streams = real_run.idle_time_breakdown().to_pylist()
    assert sum(row["gap_count"] for row in streams if row["cause"] == "dependency") > 200


# Read from the JSON, in us: a gap from 4909913692281.767 to 4909914185565.495. The launch of the
# kernel that ends it begins 39.600 after the gap's start, and takes 5.008. The copy begins 88.282
# after the gap's start, and takes 493208.469. Version 1 calls all of the gap host_wait.
def test_a_kernel_that_starts_long_after_its_launch(real_run):
    job = {"only_jobs": ["sglang_prefill"]}
    rows = real_run.idle_gaps(**job).to_pylist()
    assert by(rows, ["cause"], "part_ns") == {
        ("host_wait",): 994_121,
        ("launching",): 162_121,
        ("queued",): 493_239_121,
        ("kernel_wait",): 86_647,
    }
    parts = [row for row in rows if row["whole_gap_ns"] > 1_000_000]
    assert [(row["cause"], row["part_ns"], row["host_name"]) for row in parts] == [
        ("host_wait", 39_600, "hipStreamWaitEvent"),
        ("launching", 5_008, "hipLaunchKernel"),
        ("queued", 493_239_121, "hipMemcpyWithStream"),
    ]
    [most] = real_run.idle_reasons(**job, top_k=1).to_pylist()
    assert (most["cause"], most["name"]) == ("queued", "hipMemcpyWithStream")
    assert most["idle_ns"] == most["longest_ns"] == 493_283_729 - 88_283
    [whole] = real_run.query("idle_gaps", 1, **job, min_gap_ns=1_000_000).to_pylist()
    assert (whole["cause"], whole["gap_ns"]) == ("host_wait", 493_283_729)
