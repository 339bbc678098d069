"""call_stack and folded_stacks on real traces: in plain Python, from the raw JSON, against HTA.

HTA's figures are facts to compare with, not truth; see test_hta_figures.
"""

import gzip
import json
import random
from collections import defaultdict
from functools import lru_cache

import pytest
from queries import brute_stacks
from raw_events import is_host_op, is_over, walked
from raw_json import read
from real_files import TRACES, TraceFile

import hta_sql

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not TRACES.is_dir(), reason=f"no real traces: {TRACES} is no folder"),
]

# By traces: how many operations were called by another thread's annotation; where there are any.
CALLED = {
    "amd_mi250-0": 6,
    "backward_thread-0": 1,
    "nccl-0": 2013,
    "ns_resolution-0": 3345,
    "trace_diff/control-3": 4476,
    "trace_diff/test-1": 2856,
    "two_ranks-0": 314,
    "two_ranks-1": 309,
}


@pytest.fixture(scope="session")
def trace(trace_file: TraceFile) -> TraceFile:
    return trace_file


@pytest.fixture
def tables(real_rows, trace):
    return [real_rows(table, trace.job, trace.rank) for table in ("gpu_activities", "host_ops")]


def only(trace) -> dict:
    return {"only_jobs": [trace.job], "only_ranks": [trace.rank]}


def call_stack(run, trace, of_event) -> list[dict]:
    return run.query(
        "call_stack", of_event=of_event, of_rank=trace.rank, only_jobs=[trace.job]
    ).to_pylist()


def some_events(activities, ops) -> list[int]:
    """One of each kind: of steps and threads, deep ones, of backward passes, and any."""
    rng = random.Random(1)
    found = set()
    deepest = max((op["depth"] for op in ops), default=None)
    for rows in (
        [op for op in ops if op["name"].startswith("ProfilerStep")],
        [op for op in ops if op["caller_id"] is not None],
        [op for op in ops if op["forward_id"] is not None],
        [op for op in ops if op["cut_ns"] is not None],
        [op for op in ops if op["depth"] == deepest],
        [row for row in activities if row["launch_id"] is None],
        [row for row in activities if row["launch_id"] is not None],
        ops,
    ):
        found |= {row["event_id"] for row in rng.sample(rows, min(len(rows), 1))}
    launches = {op["event_id"] for op in ops if op["forward_id"] is not None}
    backward = [row for row in activities if row["launch_id"] in launches]
    found |= {row["event_id"] for row in rng.sample(backward, min(len(backward), 1))}
    return sorted(found)


def test_plain_python_says_the_same_of_call_stacks(real_run, trace, tables):
    stacks = brute_stacks.Rank(*tables)
    for of_event in some_events(*tables):
        wanted = list(stacks.call_stack(of_event))
        assert call_stack(real_run, trace, of_event) == wanted
        assert wanted


@pytest.mark.parametrize("weight", ["gpu", "host"])
def test_plain_python_says_the_same_of_a_step(real_run, trace, tables, weight):
    """All steps are compared with the JSON below."""
    steps = [op["step"] for op in tables[1] if op["step"] is not None]
    given = {"weight": weight, "only_steps": [max(steps)] if steps else None}
    found = real_run.query("folded_stacks", **given, **only(trace)).to_pylist()
    assert found == list(brute_stacks.folded_stacks(*tables, **given))


# From the raw JSON


@lru_cache(maxsize=1)
def raw_rows(trace) -> tuple[list[dict], list[dict]]:
    """Rows of gpu_activities and host_ops in what the stacks need, from the trace's JSON alone."""
    raw = read(trace)
    spans = {span.event_id: span for span in raw.spans}
    threads = defaultdict(list)
    for span in raw.spans:
        if is_host_op(span.cat):
            threads[span.pid, span.tid].append(span)
    cuts = {}
    for of_thread in threads.values():
        before = []
        for span, callers in walked(of_thread):
            for left in before[len(callers) :]:
                if not is_over(left, span):
                    cuts[left.event_id] = span.start_ns
            before = [*callers, span]
    called = called_by_other_threads(threads)
    key = {"job": trace.job, "rank": trace.rank}
    ops = [
        key
        | row
        | {
            "end_ns": row["start_ns"] + row["dur_ns"],
            "cut_ns": cuts.get(row["event_id"]),
            "pid": str(spans[row["event_id"]].pid),
            "tid": str(spans[row["event_id"]].tid),
            "caller_id": called.get(row["event_id"]) if row["depth"] == 0 else None,
            "forward_id": None,
        }
        for row in raw.host_ops
    ]
    return [key | row for row in raw.activities], ops


def called_by_other_threads(threads) -> dict[int, int]:
    """The annotation of the main thread around each span of an autograd thread."""
    marks = {
        thread: [
            span
            for span in spans
            if span.cat == "user_annotation"
            and (span.name.startswith(("ProfilerStep#", "## backward ##")))
        ]
        for thread, spans in threads.items()
    }
    main = [
        thread
        for thread in threads
        if any(span.name.startswith("ProfilerStep#") for span in marks[thread])
    ]
    of_main = [span for thread in main for span in marks[thread]]
    backward = [span for span in of_main if span.name.startswith("## backward ##")]
    around = sorted(backward or of_main, key=lambda s: (s.start_ns, -s.end_ns, s.event_id))
    found = {}
    for thread, spans in threads.items():
        is_autograd = thread not in main and any(
            span.cat in {"cpu_op", "Operator"} and "autograd::" in span.name for span in spans
        )
        for span in spans if is_autograd and around else []:
            containing = [
                outer
                for outer in around
                if outer.start_ns <= span.start_ns and span.end_ns <= outer.end_ns
            ]
            if containing:
                found[span.event_id] = containing[-1].event_id
    return found


def test_called_by_other_threads(trace):
    """What the links across threads are, so that the other tests are of something."""
    _, ops = raw_rows(trace)
    called = [op for op in ops if op["caller_id"] is not None]
    assert len(called) == CALLED.get(f"{trace.job}-{trace.rank}", 0)


def without_forward_pass(rows) -> list[dict]:
    return [row for row in rows if not row["relation"].startswith("forward")]


def test_call_stacks_are_those_of_the_json(real_run, trace):
    activities, ops = raw_rows(trace)
    stacks = brute_stacks.Rank(activities, ops)
    for of_event in some_events(activities, ops)[::2]:
        found = without_forward_pass(call_stack(real_run, trace, of_event))
        assert found == list(stacks.call_stack(of_event))


@pytest.mark.parametrize("weight", ["gpu", "host"])
def test_folded_stacks_are_those_of_the_json(real_run, real_rows, trace, weight):
    activities, ops = raw_rows(trace)
    short = {
        row["event_id"]: row["short_name"]
        for row in real_rows("gpu_activities", trace.job, trace.rank)
    }
    activities = [row | {"short_name": short[row["event_id"]]} for row in activities]
    found = real_run.query("folded_stacks", weight=weight, **only(trace)).to_pylist()
    assert found == list(brute_stacks.folded_stacks(activities, ops, weight=weight))


def test_every_launched_activity_has_one_chain_of_callers(real_run, trace, tables):
    activities, ops = tables
    by_id = {op["event_id"]: op for op in ops}
    for row in activities:
        climbed, at = set(), row["launch_id"]
        while at is not None:
            assert at not in climbed
            climbed.add(at)
            at = brute_stacks.Rank.caller(by_id[at])
    found = real_run.query("folded_stacks", **only(trace)).to_pylist()
    assert sum(row["weight_ns"] for row in found) == sum(row["dur_ns"] for row in activities)
    assert sum(row["weight_ns"] for row in found if ";" in row["stack"]) == sum(
        row["dur_ns"] for row in activities if row["launch_id"] is not None
    )


# HTA's get_stack_of_node, of which its own test tells the figures


STACK = [
    "ProfilerStep#552",
    "## backward ##",
    "autograd::engine::evaluate_function: AddmmBackward0",
    "AddmmBackward0",
    "aten::mm",
    "cudaLaunchKernel",
    "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x128_32x3_nn_align4>",
]
BACKWARD_THREAD = TRACES / "backward_thread" / "backward_thread.json"


def test_a_stack_across_threads(real_run):
    """HTA's figures but for the first parent, which is the thread's number below zero, -3914."""
    [kernel] = real_run.sql(
        "SELECT event_id FROM gpu_activities WHERE job = 'backward_thread'"
    ).to_pylist()
    rows = real_run.call_stack(
        of_event=kernel["event_id"], only_jobs=["backward_thread"]
    ).to_pylist()
    assert [row["name"] for row in rows] == STACK
    assert [row["depth"] for row in rows] == [0, 1, 2, 3, 4, 5, 6]
    assert [row["height"] for row in rows] == [6, 5, 4, 3, 2, 1, 0]
    assert [row["kernel_count"] for row in rows] == [1] * 7
    assert {row["kernel_ns"] for row in rows} == {45_000}
    assert [row["parent_id"] for row in rows] == [None, 0, 1, 2, 3, 4, 6]
    assert [row["relation"] for row in rows] == [*["ancestor"] * 6, "self"]


def test_without_what_is_above(real_run):
    """HTA's skip_ancestors: five rows from the autograd operator on."""
    rows = real_run.call_stack(of_event=2, only_jobs=["backward_thread"]).to_pylist()
    below = [row for row in rows if row["relation"] != "ancestor"]
    assert [row["event_id"] for row in below] == [2, 3, 4, 6, 5]
    assert [row["relation"] for row in below] == ["self", *["descendant"] * 3, "activity"]


def test_without_a_backward_annotation(tmp_path):
    trace = json.loads(BACKWARD_THREAD.read_text())
    trace["traceEvents"] = [e for e in trace["traceEvents"] if e["name"] != "## backward ##"]
    file = tmp_path / "trace.json.gz"
    file.write_bytes(gzip.compress(json.dumps(trace).encode()))
    hta_sql.ingest([file], tmp_path / "archive")
    with hta_sql.open(tmp_path / "archive") as run:
        rows = run.call_stack(of_event=4).to_pylist()
    assert [row["name"] for row in rows] == [STACK[0], *STACK[2:]]
    assert [row["parent_id"] for row in rows] == [None, 0, 1, 2, 3, 5]
