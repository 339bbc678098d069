"""module_stats and thread_stats on real traces, against their JSON measured in plain Python.

Nothing of the archive's tables is used: spans, launches, steps and what is around what come from
raw_json. HTA has neither figure.
"""

import json
from collections import Counter

import pytest
from queries.brute_modules import is_call, module_stats
from queries.brute_threads import thread_stats
from raw_events import is_host_op
from raw_json import RawTrace
from real_files import TRACES

pytestmark = pytest.mark.skipif(
    not TRACES.is_dir(), reason=f"no real traces: {TRACES} is no folder"
)

# Calls of modules, of all traces that have any.
CALLS = {
    "b200_eager": 436,
    "h100_bert": 84,
    "mi300_bert": 84,
    "sglang_prefill": 509,
    "vllm_decode": 1,
    "vllm_decode_capture": 26,
}


def as_text(value) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)


def read_tables(trace: RawTrace) -> tuple[list[dict], list[dict], list[dict]]:
    """Rows of gpu_activities, host_ops and events, with what the brute force reads of them."""
    whose = {"job": trace.file.job, "rank": trace.file.rank}
    ops = [
        whose
        | trace.places[span.event_id]
        | {"pid": as_text(span.pid), "tid": as_text(span.tid), "end_ns": span.end_ns}
        for span in trace.spans
        if is_host_op(span.cat)
    ]
    launches = {launch.event_id: launch for launch in trace.launches.values()}
    activities = [
        whose
        | row
        | {
            "launch_pid": row["launch_id"] and as_text(launches[row["launch_id"]].pid),
            "launch_tid": row["launch_id"] and as_text(launches[row["launch_id"]].tid),
        }
        for row in trace.activities
    ]
    events = [
        whose
        | {
            "event_id": at,
            "ph": "M",
            "name": event["name"],
            "pid": as_text(event.get("pid")),
            "tid": as_text(event.get("tid")),
            "args": json.dumps(event.get("args"), default=str),
        }
        for at, event in enumerate(trace.events)
        if event["ph"] == "M"
    ]
    return activities, ops, events


@pytest.fixture(scope="session")
def trace(raw_trace: RawTrace) -> RawTrace:
    return raw_trace


@pytest.fixture(scope="session")
def tables(trace):
    return read_tables(trace)


def selections(trace) -> list[dict]:
    """Everything, and the trace's first step."""
    steps = sorted(step for step, _ in trace.step_marks)
    return [{}, *({"only_steps": [step]} for step in steps[:1])]


@pytest.fixture
def found(real_run, trace):
    """Call it for a query's rows of this trace."""
    only = {"only_jobs": [trace.file.job], "only_ranks": [trace.file.rank]}
    return lambda query, **given: real_run.query(query, **only, **given).to_pylist()


def test_threads(found, trace, tables):
    for given in selections(trace):
        wanted = thread_stats(*tables, **given)
        assert found("thread_stats", **given) == wanted
        assert given or wanted


def test_modules(found, trace, tables):
    activities, ops, _ = tables
    assert sum(map(is_call, ops)) == CALLS.get(trace.file.job, 0)
    if trace.file.job in CALLS:
        assert not any(op["is_backward"] for op in ops)  # for which test_modules has a trace
    for given in selections(trace):
        assert found("module_stats", **given) == list(module_stats(activities, ops, **given))


@pytest.mark.parametrize("job", CALLS)
def test_self_times_add_up_to_all_activities(real_run, job):
    modules = real_run.module_stats(only_jobs=[job]).to_pylist()
    [total] = real_run.sql(
        "SELECT sum(dur_ns)::BIGINT AS ns, count(*) AS count FROM gpu_activities WHERE job = $job",
        {"job": job},
    ).to_pylist()
    names = ["forward_self_kernel_ns", "backward_self_kernel_ns"]
    assert sum(row[name] for row in modules for name in names) == total["ns"]
    counts = [name.replace("_ns", "_count") for name in names]
    assert sum(row[name] for row in modules for name in counts) == total["count"]
    assert sum(row["count"] for row in modules) == CALLS[job]


def test_kernels_of_threads_are_all_that_have_a_launch(real_run):
    threads = real_run.thread_stats().to_pylist()
    launched = Counter()
    for row in threads:
        launched[row["job"], row["rank"]] += row["kernel_count"]
    wanted = Counter(
        {
            (row["job"], row["rank"]): row["count"]
            for row in real_run.sql(
                "SELECT job, rank, count(*) AS count FROM gpu_activities WHERE launch_id IS "
                "NOT NULL"
                " GROUP BY job, rank"
            ).to_pylist()
        }
    )
    assert +launched == wanted
