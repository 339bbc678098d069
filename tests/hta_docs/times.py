"""Numbers of entries on time, steps and ranks."""

import re
from math import ceil, floor, ulp
from pathlib import Path

from hand_written import ingested, span, trace_text
from hta_cases import raw_trace
from hta_docs.documents import Number, Ours
from hta_docs.entries import UNROUNDED, entry, hta, one, raises, steps, us


def hta_keeps(event: dict) -> bool:
    """All but what has no duration or category, and the profiler's own span; §1.2."""
    return "dur" in event and event.get("cat", "Trace") != "Trace"


def rounded_to_us(event: dict) -> tuple[int, int]:
    """HTA's (ts, dur): inwards to whole µs, on the doubles of the file; hta-semantics §1.3."""
    start = float(event["ts"])
    first = ceil(start)
    return first, floor(start + float(event["dur"])) - first


@entry("Times are not rounded")
def times(ours: Ours, folder: Path) -> list[Number]:
    kept = steps("ns_resolution")
    idle = [
        float(hta("ns_resolution", "get_temporal_breakdown", kind)[0]["idle_time(us)"])
        for kind in ("", UNROUNDED)
    ]
    [row] = ours("temporal_breakdown", "ns_resolution", only_steps=kept)
    nccl = raw_trace("nccl")
    end = max(float(mark.start_ns - nccl.base_ns) / 1000 for _, mark in nccl.step_marks)
    negative = [
        event
        for event in nccl.events
        if hta_keeps(event) and float(event["ts"]) < end and rounded_to_us(event)[1] < 0
    ]
    since_1970 = ulp(float(raw_trace("ns_resolution").activities[0]["start_ns"]) / 1000)
    return [
        -1,
        kept[0],
        kept[-1],
        idle[0],
        us(row["idle_ns"]),
        idle[1],
        1970,
        since_1970,
        *steps("nccl"),
        len(negative),
        max(rounded_to_us(event)[1] for event in negative),
        max(event["dur"] for event in negative),
    ]


@entry("The last step is kept")
def last_step(ours: Ours, folder: Path) -> list[Number]:
    theirs = one(hta("two_ranks", "get_temporal_breakdown"), rank="0")
    [all_steps] = ours("temporal_breakdown", "two_ranks", only_ranks=[0])
    [kept] = ours("temporal_breakdown", "two_ranks", only_ranks=[0], only_steps=[551])
    assert [row["step"] for row in ours("profiler_steps", "two_ranks", only_ranks=[0])] == [
        551,
        552,
    ]
    return [
        0,
        float(theirs["kernel_time(us)"]),
        *steps("two_ranks"),
        us(all_steps["span_ns"]),
        us(kept["span_ns"]),
    ]


@entry("Activities without a launch are kept")
def without_launch(ours: Ours, folder: Path) -> list[Number]:
    [theirs] = hta("trace_diff_test", "get_temporal_breakdown", "last_step__")
    [row] = ours("temporal_breakdown", "trace_diff/test")
    launched = len(ours("launch_stats", "trace_diff/test"))
    count = len(raw_trace("trace_diff/test").activities)
    return [count - launched, float(theirs["kernel_time(us)"]), us(row["span_ns"])]


def three_steps() -> list[dict]:
    """Three steps of 10 µs that launch a kernel of 20 µs each, and the GPU's marks of them."""
    host, gpu, marks = [], [], []
    for n in (1, 2, 3):
        begin, late = EPOCH_US + 10 * (n - 1), EPOCH_US + 5 + 20 * (n - 1)
        host.append(span(f"ProfilerStep#{n}", begin, 10, "user_annotation"))
        host.append(span("cudaLaunchKernel", begin + 2, 1, "cuda_runtime", correlation=n))
        gpu.append(span("gemm", late, 20, "kernel", 0, 7, device=0, stream=7, correlation=n))
        marks.append(span(f"ProfilerStep#{n}", late, 20, "gpu_user_annotation", 0, 7))
    return [*host, *gpu, *marks]


EPOCH_US = 1_700_000_000_000_000


@entry("Steps come from the host")
def host_steps(ours: Ours, folder: Path) -> list[Number]:
    events = three_steps()
    marks = [event for event in events if event["name"].startswith("ProfilerStep")]
    # hta-semantics §1.8: of the marks around a launch, the last in the file; of any category.
    theirs = [
        [
            int(mark["name"].partition("#")[2])
            for mark in marks
            if mark["ts"] <= event["ts"] < mark["ts"] + mark["dur"]
        ][-1]
        for event in events
        if event["cat"] == "cuda_runtime"
    ]
    # §1.10: dropped is what begins at the start of the last of all marks or later.
    last = max(mark["ts"] for mark in marks)
    assert all(event["ts"] < last for event in events if event["cat"] == "cuda_runtime")
    [step] = set(theirs)
    run = ingested(folder, trace_text(events))
    rows = run.profiler_steps().to_pylist()
    [count] = {row["kernel_count"] for row in rows}
    return [len(theirs), step, *(row["step"] for row in rows), count]


@entry("A rank without steps is kept")
def rank_without_steps(ours: Ours, folder: Path) -> list[Number]:
    with_steps = three_steps()[:4]
    kernel = span("gemm", EPOCH_US + 3, 9, "kernel", 0, 7, device=0, stream=7, correlation=1)
    launch = span("cudaLaunchKernel", EPOCH_US + 2, 1, "cuda_runtime", correlation=1)
    run = ingested(
        folder,
        {
            "rank_0.json": trace_text([*with_steps, kernel]),
            "rank_1.json": trace_text([launch, kernel]),
        },
    )
    # hta-semantics §1.10: without steps, all but what begins before the first event is dropped.
    theirs = [event for event in (launch,) if event["ts"] < launch["ts"]]
    rows = run.launch_stats(only_ranks=[1]).to_pylist()
    numbered = run.profiler_steps().to_pylist()
    assert {row["rank"] for row in numbered} == {0}
    return [0, *(row["step"] for row in numbered), 1, len(theirs), 1, len(rows)]


@entry("A rank without GPU activities has no rows")
def without_gpu(ours: Ours, folder: Path) -> list[Number]:
    methods = ("temporal_breakdown", "idle_time_breakdown")
    assert all(raises("cpu_only", f"get_{method}") for method in methods)
    [count] = {len(ours(method, "cpu_only")) for method in methods}
    return [count]


@entry("All ranks are found")
def ranks_found(ours: Ours, folder: Path) -> list[Number]:
    text = '{"distributedInfo":{"rank":%d},"traceEvents":[{"ph":"X","cat":"cpu_op",'
    text += '"name":"a","pid":1,"tid":1,"ts":1700000000000000,"dur":1}]}'
    files = {f"rank_{rank}.json": text % rank for rank in (0, 1)}
    run = ingested(folder, files)
    # hta-semantics §1.1: what the pattern does not find is rank 0.
    theirs = {
        int(found[1]) if (found := re.search(r'"rank":\s+(\d+)', content)) else 0
        for content in files.values()
    }
    [count] = run.sql("SELECT count(DISTINCT rank) AS count FROM traces").to_pylist()
    return [*theirs, len(theirs), count["count"]]


@entry("All ranks are reported")
def ranks_reported(ours: Ours, folder: Path) -> list[Number]:
    rows = ours("idle_time_breakdown", "two_ranks")
    default = {0}  # hta-semantics §4.6: ranks=None->[0]
    return [*default, len(default), len({row["rank"] for row in rows})]


@entry("Timestamps are Unix time")
def stamps(ours: Ours, folder: Path) -> list[Number]:
    trace = raw_trace("h100_bert")
    # hta-semantics §1.9: from the first event on, after rounding.
    rows = [event for event in trace.events if hta_keeps(event)]
    [step] = [
        event
        for event in rows
        if (event["cat"], event["name"]) == ("user_annotation", "ProfilerStep#6")
    ]
    first = min(rounded_to_us(event)[0] for event in rows)
    [row] = ours("profiler_steps", "h100_bert")
    return [0, rounded_to_us(step)[0] - first, row["start_ns"]]
