"""What docs/differences-from-hta.md and docs/coming-from-hta.md say is so.

Every number in an entry of the differences is computed here: the function of that entry gives its
numbers in the order of the text, ours from the queries over the real traces, HTA's from what it
wrote of them, or by its rule from the trace. What is told in backticks or drawn is not a number.
"""

import ast
import csv
import inspect
import json
import re
import shutil
from collections.abc import Callable, Iterator
from decimal import Decimal
from importlib.util import find_spec
from itertools import groupby, pairwise
from math import ceil, floor, ulp
from pathlib import Path

import pytest
from click.testing import CliRunner
from hand_written import ingested, span, trace_text
from hta_cases import CASES, hta_kind, needs_hta_outputs, raw_trace
from raw_json import HTA_OUTPUTS, TRACE_FILES
from test_real_ops import HTA_FIGURES, KNOWN_DIFFERENCES, by_hta, figures

import hta_sql
from hta_sql.catalogue.catalog import Catalog
from hta_sql.catalogue.query import Query
from hta_sql.cli import cli
from hta_sql.export.sequences import export_sequences

DOCS = Path(__file__).parent.parent / "docs"
DIFFERENCES = (DOCS / "differences-from-hta.md").read_text(encoding="utf-8")
COMING = (DOCS / "coming-from-hta.md").read_text(encoding="utf-8")

Number = int | float | Decimal
Ours = Callable[..., list[dict]]  # a query and a job to its rows
csv.field_size_limit(10**9)

# hta-semantics §4: the public methods of TraceAnalysis.
HTA_METHODS = {
    "critical_path_analysis",
    "generate_trace_with_counters",
    "get_aten_op_kernels_and_delay",
    "get_comm_comp_overlap",
    "get_cuda_kernel_launch_stats",
    "get_cupti_counter_data_with_operators",
    "get_frequent_cuda_kernel_sequences",
    "get_gpu_kernel_breakdown",
    "get_gpu_kernels_with_user_annotations",
    "get_gpu_user_annotation_breakdown",
    "get_idle_time_breakdown",
    "get_memory_bw_summary",
    "get_memory_bw_time_series",
    "get_potential_stragglers",
    "get_profiler_steps",
    "get_queue_length_summary",
    "get_queue_length_summary_from_time_series",
    "get_queue_length_time_series",
    "get_temporal_breakdown",
    "get_time_spent_blocked_on_full_queue",
    "overlay_critical_path_analysis",
}


# The text


def sections(text: str, level: int) -> dict[str, str]:
    """Text by heading of this level, up to the next heading of this level or above."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    is_code = False
    for line in text.splitlines(keepends=True):
        is_code ^= line.startswith("```")
        marks, _, heading = line.partition(" ")
        if not is_code and marks and not marks.strip("#") and len(marks) <= level:
            lines = found.setdefault(heading.rstrip(), []) if len(marks) == level else []
        else:
            lines.append(line)
    return {heading: "".join(body) for heading, body in found.items()}


ENTRIES = sections(DIFFERENCES, 3)
NUMBER = re.compile(r"(?<![\w.,-])-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")


def numbers_in(text: str) -> list[Decimal]:
    prose = re.sub(r"```.*?```|`[^`]*`|ProfilerStep#\d+", "", text, flags=re.DOTALL)
    prose = re.sub(r"^\|.*\|$", "", prose, flags=re.MULTILINE)
    return [Decimal(found.rstrip(",").replace(",", "")) for found in NUMBER.findall(prose)]


def is_rounded(shown: Decimal, value: Number) -> bool:
    """Whether the text shows this value, rounded to the digits it shows."""
    exact = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    last_digit = Decimal(1).scaleb(min(shown.as_tuple().exponent, 0))
    return abs(shown - exact) <= last_digit / 2 and (shown == 0) == (exact == 0)


def test_text_is_read_as_meant():
    text = "# A\n## B\nb\n```\n# code\n```\n### C\nc\n## D\nd\n"
    assert sections(text, 2) == {"B": "b\n```\n# code\n```\n### C\nc\n", "D": "d\n"}
    assert sections(text, 3) == {"C": "c\n"}
    assert numbers_in("In `a_1`, of H100s, 1,234.50 µs and 3e-14, or -1 µs.") == [
        Decimal("1234.50"),
        Decimal("3e-14"),
        Decimal(-1),
    ]
    assert is_rounded(Decimal("0.21"), 0.208) and not is_rounded(Decimal("0.20"), 0.208)
    assert is_rounded(Decimal("3e-14"), 2.8e-14) and not is_rounded(Decimal(0), 0.1)
    assert not is_rounded(Decimal(1), 0)


# Where the numbers come from


def hta(folder: str, method: str, kind: str = "") -> list[dict[str, str]]:
    """What HTA wrote; of `kind` "no_rounding/", "last_step__" or with its defaults."""
    with open(HTA_OUTPUTS / folder / f"{kind}{method}.csv", newline="") as file:
        return list(csv.DictReader(file))


def raises(folder: str, method: str) -> bool:
    return not list((HTA_OUTPUTS / folder).glob(f"**/*{method}*"))


UNROUNDED = "no_rounding/"


def steps(folder: str) -> list[int]:
    """Those that HTA keeps."""
    [kept] = {case.steps for case in CASES if case.folder == folder and not case.last_step}
    return list(kept)


def one(rows: list[dict], **wanted) -> dict:
    [found] = [row for row in rows if wanted.items() <= row.items()]
    return found


def us(ns: int) -> Decimal:
    return Decimal(ns) / 1000


ENTRY_NUMBERS: dict[str, Callable[[Ours, Path], list[Number]]] = {}


def entry(heading: str):
    def register(numbers: Callable[[Ours, Path], list[Number]]):
        assert heading not in ENTRY_NUMBERS
        ENTRY_NUMBERS[heading] = numbers
        return numbers

    return register


# Time, steps, ranks


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


@entry("The last step stays")
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


@entry("Activities without a launch stay")
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


@entry("Steps are those of the host")
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


@entry("A rank without steps stays")
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


@entry("Without a GPU there are no rows")
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


@entry("Stamps are Unix time")
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


# What counts as GPU time


@entry("Synchronisations do not count")
def synchronisations(ours: Ours, folder: Path) -> list[Number]:
    [theirs] = hta("alexnet", "get_temporal_breakdown")
    [row] = ours("temporal_breakdown", "alexnet")
    return [
        float(theirs["non_compute_time(us)"]),
        float(theirs["kernel_time(us)"]),
        us(row["non_compute_ns"]),
        us(row["span_ns"]),
    ]


@entry("Host rows do not count")
def host_rows(ours: Ours, folder: Path) -> list[Number]:
    [theirs] = hta("triton", "get_temporal_breakdown")
    [row] = ours("temporal_breakdown", "triton")
    assert row["span_ns"] == row["compute_ns"]
    return [float(theirs["compute_time(us)"]), us(row["compute_ns"])]


@entry("Kinds follow other rules")
def kinds(ours: Ours, folder: Path) -> list[Number]:
    theirs = one(hta("b200_eager", "get_gpu_kernel_breakdown_part0"), kernel_type="COMMUNICATION")
    [b200] = ours("temporal_breakdown", "b200_eager")
    [mtia] = hta("mtia_inference", "get_temporal_breakdown", UNROUNDED)
    [row] = ours("temporal_breakdown", "mtia_inference")
    return [
        float(theirs["sum"]),
        us(b200["communication_ns"]),
        float(mtia["compute_time(us)"]),
        us(row["compute_ns"]),
    ]


@needs_hta_outputs
def test_kinds_of_names(real_run):
    text = ENTRIES["Kinds follow other rules"]
    rows = re.findall(r"^\| `(.*)` \| (\w+) \| (\w+) \|$", text, re.MULTILINE)
    assert len(rows) == 6
    for name, theirs, here in rows:
        assert (hta_kind(name) or "none") == theirs, name
        found = real_run.con.execute("SELECT kind_of_name($1)", [name]).fetchall()
        assert found == [(here,)], name


@entry("One row for each device")
def devices(ours: Ours, folder: Path) -> list[Number]:
    kernels = [
        span("gemm", EPOCH_US + 5 * device, 10, "kernel", device, 7, device=device, stream=7)
        for device in (0, 1)
    ]
    run = ingested(folder, trace_text(kernels))
    rows = run.temporal_breakdown().to_pylist()
    [compute], [length] = ({row[name] for row in rows} for name in ("compute_ns", "span_ns"))
    theirs = max(k["ts"] + k["dur"] for k in kernels) - min(k["ts"] for k in kernels)
    return [1, theirs, theirs, len(rows), us(compute), us(length)]


# Breakdowns and kernels


@entry("Kinds are not cut to microseconds")
def kinds_cut(ours: Ours, folder: Path) -> list[Number]:
    kept = steps("ns_resolution")
    rows = hta("ns_resolution", "get_gpu_kernel_breakdown_part0", UNROUNDED)
    here = ours("kernel_kind_breakdown", "ns_resolution", only_steps=kept)
    names = ("computation", "memory")
    return [
        kept[0],
        kept[-1],
        *(float(one(rows, kernel_type=name.upper())["sum"]) for name in names),
        *(us(one(here, kinds=name)["time_ns"]) for name in names),
    ]


@entry("Kinds are not added up over ranks")
def kinds_of_ranks(ours: Ours, folder: Path) -> list[Number]:
    rows = hta("two_ranks", "get_gpu_kernel_breakdown_part0")
    here = ours("kernel_kind_breakdown", "two_ranks", only_steps=steps("two_ranks"))
    first, second = (one(here, kinds="communication", rank=rank) for rank in (0, 1))
    total = float(one(rows, kernel_type="COMMUNICATION")["sum"])
    assert 1000 * total == first["time_ns"] + second["time_ns"]
    return [551, total, us(first["time_ns"]), 0, us(second["time_ns"]), 1]


@entry("Kernel statistics are over calls")
def statistics(ours: Ours, folder: Path) -> list[Number]:
    rows = hta("nccl", "get_gpu_kernel_breakdown_part1", UNROUNDED)
    [theirs] = [row for row in rows if "nchwToNhwcKernel" in row["name"]]
    [row] = ours("kernel_stats", "nccl", only_steps=steps("nccl"), name_contains="nchwToNhwcKernel")
    return [
        *steps("nccl"),
        float(theirs["mean (us)"]),
        float(theirs["stddev"]),
        row["count"],
        us(row["mean_ns"]),
        us(row["stddev_ns"]),
    ]


@entry("top_k keeps names")
def names_kept(ours: Ours, folder: Path) -> list[Number]:
    rows = hta("nccl", "get_gpu_kernel_breakdown_part1", UNROUNDED)
    times = {
        row["name"]: float(row["sum (us)"]) for row in rows if row["kernel_type"] == "COMPUTATION"
    }
    kept = sum(time for name, time in times.items() if name != "others")
    here = ours("kernel_stats", "nccl", only_steps=steps("nccl"), top_k=3)
    assert {len(list(of_kind)) for _, of_kind in groupby(here, key=lambda row: row["kind"])} <= {
        2,
        4,
    }
    return [*steps("nccl"), 100 * kept / sum(times.values())]


@entry("The overlap is a fraction")
def overlap(ours: Ours, folder: Path) -> list[Number]:
    theirs = [
        float(hta("nccl", "get_comm_comp_overlap", kind)[0]["comp_comm_overlap_pctg"])
        for kind in ("", UNROUNDED)
    ]
    [row] = ours("comm_comp_overlap", "nccl", only_steps=steps("nccl"))
    [nothing] = ours("comm_comp_overlap", "alexnet")
    assert nothing["overlap_frac"] is None
    return [0, 1, *steps("nccl"), *theirs, row["overlap_frac"]]


# Idle time and queues


@entry("Idle time begins at the latest end")
def latest_end(ours: Ours, folder: Path) -> list[Number]:
    [theirs] = [
        row
        for row in hta("b200_eager", "get_idle_time_breakdown_part0", UNROUNDED)
        if row["idle_category"] == "kernel_wait"
    ]
    trace = raw_trace("b200_eager")
    starts = {span.event_id: span.start_ns for span in trace.spans}
    by_rule = sum(
        row["start_ns"] - before["end_ns"]
        for before, row in pairwise(sorted(trace.activities, key=lambda row: row["start_ns"]))
        if starts[row["launch_id"]] <= before["end_ns"]
        and row["start_ns"] - before["end_ns"] < 30_000
    )
    assert is_rounded(Decimal(theirs["idle_time"]), us(by_rule))
    row = one(ours("idle_time_breakdown", "b200_eager"), cause="kernel_wait")
    return [int(theirs["stream"]), float(theirs["idle_time"]), us(row["idle_ns"])]


@entry("Only gaps have rows")
def gaps(ours: Ours, folder: Path) -> list[Number]:
    theirs = [
        row
        for row in hta("two_ranks", "get_idle_time_breakdown_part0")
        if (row["rank"], row["stream"]) == ("0", "203")
    ]
    here = [
        row
        for row in ours("idle_time_breakdown", "two_ranks", only_steps=steps("two_ranks"))
        if (row["rank"], row["stream"]) == (0, 203)
    ]
    assert [row["idle_category"] for row in theirs] == ["other"]
    return [203, 0, 551, len(theirs), float(theirs[0]["idle_time"]), len(here)]


# hta-semantics §4.10.
HTA_QUEUE_LAUNCHES = (
    "cudaLaunchKernel",
    "cudaLaunchKernelExC",
    "cuLaunchKernel",
    "cuLaunchKernelEx",
    "cudaMemcpyAsync",
    "cudaMemsetAsync",
    "hipLaunchKernel",
    "hipExtModuleLaunchKernel",
    "hipMemsetAsync",
    "hipMemcpyAsync",
    "hipMemcpyWithStream",
    "runFunction - job_prep_and_submit_for_execution",
)


@entry("Every launch fills the queue")
def queue(ours: Ours, folder: Path) -> list[Number]:
    kept = steps("trace_diff_test")
    theirs = one(hta("trace_diff_test", "get_queue_length_summary"), stream="7")
    here = one(ours("queue_length_summary", "trace_diff/test", only_steps=kept), stream=7)
    [amd] = hta("mi300_bert", "get_queue_length_summary")
    [row] = ours("queue_length_summary", "mi300_bert")
    left_out = {launch["launch_name"] for launch in ours("launch_stats", "mi300_bert")}.difference(
        HTA_QUEUE_LAUNCHES
    )
    assert left_out == {"hipModuleLaunchKernel"}
    return [
        len(HTA_QUEUE_LAUNCHES),
        7,
        kept[0],
        kept[-1],
        float(theirs["queue_length__max"]),
        here["max"],
        float(amd["queue_length__count"]),
        row["count"],
    ]


@entry("Ties in the queue have an order")
def ties(ours: Ours, folder: Path) -> list[Number]:
    theirs = one(hta("simple_add", "get_queue_length_summary"), stream="7")
    here = one(ours("queue_length_summary", "simple_add"), stream=7)
    return [7, float(theirs["queue_length__mean"]), here["mean"]]


@entry("The mean queue length is also over time")
def over_time(ours: Ours, folder: Path) -> list[Number]:
    theirs = one(hta("nccl", "get_queue_length_summary", UNROUNDED), stream="7")
    here = one(ours("queue_length_summary", "nccl", only_steps=steps("nccl")), stream=7)
    assert abs(float(theirs["queue_length__mean"]) - here["mean"]) < 1e-9
    return [7, *steps("nccl"), here["mean"], here["time_weighted_mean"]]


@entry("Every full queue is reported")
def full_queues(ours: Ours, folder: Path) -> list[Number]:
    kept = steps("trace_diff_control")
    [theirs] = hta("trace_diff_control", "get_time_spent_blocked_on_full_queue_max10")
    rows = [
        row
        for row in ours(
            "queue_full_time", "trace_diff/control", only_steps=kept, max_queue_length=10
        )
        if row["full_ns"]
    ]
    return [
        kept[0],
        kept[-1],
        10,
        float(theirs["duration_at_max_queue_length"]),
        100 * float(theirs["relative_duration_at_max_queue_length"]),
        int(theirs["stream"]),
        *(row["stream"] for row in rows),
        *(us(row["full_ns"]) for row in rows),
        100 * rows[-1]["full_frac"],
    ]


# Copies


@entry("No bandwidth where nothing runs")
def bandwidth(ours: Ours, folder: Path) -> list[Number]:
    kept = steps("trace_diff_test")
    theirs = one(hta("trace_diff_test", "get_memory_bw_summary"), name="Memcpy DtoD")
    rows = ours("memory_bandwidth_summary", "trace_diff/test", only_steps=kept)
    here = one(rows, copy_kind="Memcpy DtoD")
    figures = ("min", "count", "mean", "max")
    rest, *others = (float(theirs[f"memory_bw_gbps__{figure}"]) for figure in figures)
    return [rest, kept[0], kept[-1], *others, here["count"], here["mean"], here["max"]]


@entry("Copies without a bandwidth have rows")
def copies(ours: Ours, folder: Path) -> list[Number]:
    rows = ours("memory_bandwidth_summary", "amd_mi250")
    theirs = hta("amd_mi250", "get_memory_bw_summary")
    return [len(theirs), len(rows), rows[0]["copy_count"], us(rows[0]["time_ns"])]


# Launches, operators, annotations


@entry("Every launch has a row")
def launches(ours: Ours, folder: Path) -> list[Number]:
    kept = steps("trace_diff_test")

    def both(folder: str, job: str, **parameters) -> list[int]:
        theirs = hta(folder, "get_cuda_kernel_launch_stats")
        return [len(theirs), len(ours("launch_stats", job, **parameters))]

    [summary] = ours("launch_summary", "trace_diff/test", only_steps=kept)
    return [
        *both("h100_bert", "h100_bert"),
        *both("amd_mi250", "amd_mi250"),
        kept[0],
        kept[-1],
        *both("trace_diff_test", "trace_diff/test", only_steps=kept),
        summary["launch_count"],
    ]


@entry("Operators launch on their own thread")
def operators(ours: Ours, folder: Path) -> list[Number]:
    theirs = hta("two_ranks", "get_aten_op_kernels_and_delay")
    here = ours("op_launch_delay", "two_ranks", only_steps=steps("two_ranks"))

    def calls(rows: list[dict], rank: int | str, column: str) -> int:
        return sum(int(float(row[column])) for row in rows if row["rank"] == rank)

    assert raises("amd_mi250", "get_aten_op_kernels_and_delay")
    amd = ours("op_launch_delay", "amd_mi250")
    mtia = hta("mtia_inference", "get_aten_op_kernels_and_delay")
    return [
        551,
        calls(theirs, "0", "occurrence_count"),
        0,
        calls(theirs, "1", "occurrence_count"),
        1,
        calls(here, 0, "count"),
        calls(here, 1, "count"),
        calls(mtia, "0", "occurrence_count"),
        len(ours("op_launch_delay", "mtia_inference")),
        calls(amd, 0, "count"),
    ]


@entry("Operators of any depth have sequences")
def sequences_by_depth(ours: Ours, folder: Path) -> list[Number]:
    method = "get_frequent_cuda_kernel_sequences"

    def calls(operator: str, job: str, **parameters) -> int:
        rows = ours("kernel_sequences", job, operator=operator, min_length=1, **parameters)
        return sum(row["count"] for row in rows)

    kept = steps("trace_diff_test")
    theirs = hta("trace_diff_test", f"{method}_aten_mul_min1")
    amd = hta("amd_mi250", f"{method}_aten_linear_min1")
    assert raises("nccl", method)
    return [
        -1,
        kept[0],
        kept[-1],
        sum(int(row["count"]) for row in theirs),
        calls("aten::mul", "trace_diff/test", only_steps=kept),
        calls("aten::conv2d", "nccl"),
        len(amd),
        calls("aten::linear", "amd_mi250"),
    ]


@entry("Sequences are of activities")
def sequences_of_activities(ours: Ours, folder: Path) -> list[Number]:
    theirs = hta("alexnet", "get_frequent_cuda_kernel_sequences_aten_conv2d_min1")
    here = ours("kernel_sequences", "alexnet", operator="aten::conv2d", min_length=1)
    patterns = {
        " | ".join(name for name in row["pattern"].split("|")[1:] if name != "Stream Wait Event")
        for row in theirs
    }
    assert patterns == {row["sequence"] for row in here}
    return [len(theirs), len(here)]


@entry("Kernels belong to who launched them")
def annotations(ours: Ours, folder: Path) -> list[Number]:
    method = "get_gpu_kernels_with_user_annotations"
    assert raises("alexnet", method)
    alexnet = ours("annotated_kernels", "alexnet")
    assert all(row["annotation"] for row in alexnet)
    rounded, unrounded = (
        sum(row["s_user_annotation"] == "" for row in hta("b200_eager", f"{method}_rank0", kind))
        for kind in ("", UNROUNDED)
    )
    here = ours("annotated_kernels", "b200_eager")
    missing = sum(row["annotation"] is None for row in here)
    assert unrounded == missing
    return [len(alexnet), rounded, len(here), missing]


@entry("GPU annotations are of their step")
def gpu_annotations(ours: Ours, folder: Path) -> list[Number]:
    kept = steps("ns_resolution")
    rows = hta("ns_resolution", "get_gpu_user_annotation_breakdown_gpu", UNROUNDED)
    theirs = one(rows, name="## backward ##")
    here = one(ours("annotation_stats", "ns_resolution", only_steps=kept), name="## backward ##")
    mean = float(theirs["mean (us)"])
    return [
        kept[0],
        kept[-1],
        round(float(theirs["sum (us)"]) / mean),
        mean,
        here["count"],
        us(here["mean_ns"]),
    ]


@entry("Exports leave the rest as it is")
def exports(ours: Ours, folder: Path) -> list[Number]:
    out = folder / "out.json"
    export_sequences(ours.run, out, "aten::conv2d", "alexnet", min_length=1)
    spans = [event for event in json.loads(out.read_text())["traceEvents"] if event["ph"] == "X"]
    marked = [event for event in spans if "Patterns" in event.get("args", {})]
    was = [event for event in raw_trace("alexnet").events if event["ph"] == "X"]
    assert len(spans) == len(was)
    assert sum("args" in event for event in spans) == sum("args" in event for event in was)
    return [len(spans), len(marked)]


@entry("Counters are rows")
def counters(ours: Ours, folder: Path) -> list[Number]:
    theirs = hta("cupti_counters", "get_cupti_counter_data_with_operators")
    here = ours("hardware_counters", "cupti_counters")
    names = sorted({row["counter"] for row in here})
    assert set(names) <= theirs[0].keys()
    assert {(row["event_id"], row["counter"]): row["value"] for row in here} == {
        (int(row["index"]), name): float(row[name]) for row in theirs for name in names
    }
    return [len(theirs), len(names), len(here)]


@entry("All steps are listed")
def steps_listed(ours: Ours, folder: Path) -> list[Number]:
    theirs = [int(row["value"]) for row in hta("nccl", "get_profiler_steps")]
    return [*theirs, *(row["step"] for row in ours("profiler_steps", "nccl"))]


@entry("Operators have the kernels that they launched")
def operators_and_kernels(ours: Ours, folder: Path) -> list[Number]:
    def theirs(job: str, event_id: int) -> tuple[int, float, float]:
        [file] = [file for file in TRACE_FILES if file.job == job]
        return figures(by_hta(file)[event_id])

    def here(job: str, event_id: int) -> dict:
        return one(ours("op_calls", job), event_id=event_id)

    copy = here("alexnet", 65)
    assert copy["name"] == "aten::to"
    [region] = [
        row
        for row in ours("op_calls", "torch_compile_triton", min_kernels=12)
        if row["name"].startswith("Torch-Compiled Region")
    ]
    nccl = sum(row["num_kernels"] > 0 for row in ours("op_calls", "nccl"))
    assert HTA_FIGURES["nccl", 0][0] == nccl and "nccl" not in KNOWN_DIFFERENCES
    return [
        0,
        *theirs("alexnet", 65)[:2],
        copy["num_kernels"],
        us(copy["kernel_dur_sum_ns"]),
        theirs("torch_compile_triton", region["event_id"])[0],
        region["num_kernels"],
        us(region["kernel_dur_sum_ns"]),
        nccl,
    ]


@entry("The outermost event has no parent")
def outermost_events(ours: Ours, folder: Path) -> list[Number]:
    trace = raw_trace("backward_thread")
    [kernel] = trace.activities
    outermost, *_ = ours("call_stack", "backward_thread", of_event=kernel["event_id"])
    assert outermost["name"] == "ProfilerStep#552" and outermost["parent_id"] is None
    event = trace.events[outermost["event_id"]]
    others = raw_trace("trace_compare/test").host_ops
    linked = sum(row["caller_id"] is not None for row in others)
    return [-event["tid"], linked]


# Critical path


def path_fracs(ours: Ours, job: str, **window) -> dict[str, float]:
    """In percent, by what bounds it."""
    [computed] = ours.run.compute_critical_path(only_jobs=[job], **window)
    rows = ours("critical_path_summary", job, only_windows=[computed.path_window])
    return {row["bound_by"]: 100 * row["time_frac"] for row in rows}


def hta_fracs(folder: str, file: str) -> dict[str, float]:
    return {row["bound_by"]: float(row["pct"]) for row in hta(folder, f"critical_path_{file}")}


FIRST_STEP = {"annotation": "ProfilerStep"}


@entry("Autograd's thread and training's are one after the other")
def both_threads(ours: Ours, folder: Path) -> list[Number]:
    [computed] = ours.run.compute_critical_path(only_jobs=["amd_mi250"], **FIRST_STEP)
    rows = ours("critical_path_summary", "amd_mi250", only_windows=[computed.path_window])
    return [7448, us(sum(row["time_ns"] for row in rows))]  # hta-semantics §9.2


@entry("A wait is for what ended")
def found_out(ours: Ours, folder: Path) -> list[Number]:
    theirs = hta_fracs("trace_diff_test", "ProfilerStep_0")
    here = path_fracs(ours, "trace_diff/test", **FIRST_STEP)
    return [100, theirs["cpu_bound"], here["gpu_compute_bound"], here["gpu_communication_bound"]]


@entry("A copy that waits takes nothing")
def waiting_copies(ours: Ours, folder: Path) -> list[Number]:
    [computed] = ours.run.compute_critical_path(only_jobs=["trace_diff/control"], **FIRST_STEP)
    [edge] = ours.run.sql(
        "FROM path_edges WHERE job = 'trace_diff/control' AND path_window = $window "
        "AND name = 'cudaMemcpyAsync' AND edge = 'operator' ORDER BY end_ns - start_ns DESC "
        "LIMIT 1",
        {"window": computed.path_window},
    ).to_pylist()
    return [us(edge["end_ns"] - edge["start_ns"]), us(edge["time_ns"])]


@entry("The last to come counts")
def last_to_come(ours: Ours, folder: Path) -> list[Number]:
    overhead = "gpu_kernel_kernel_overhead"
    theirs = hta_fracs("mi300_bert", "ProfilerStep_0")
    return [theirs[overhead], path_fracs(ours, "mi300_bert", **FIRST_STEP)[overhead], 1.5]


@entry("Graph launches have all their activities")
def graph_launches(ours: Ours, folder: Path) -> list[Number]:
    launch = span("cudaGraphLaunch", EPOCH_US, 20, "cuda_runtime", correlation=5)
    kernels = [
        span("gemm", EPOCH_US + 30 + 20 * i, 15, "kernel", 0, 7, device=0, stream=7, correlation=5)
        for i in range(3)
    ]
    run = ingested(folder, trace_text([launch, *kernels]))
    run.compute_critical_path()
    path = run.critical_path().to_pylist()
    mine = {row["event_id"] for row in path if row["bound_by"] == "gpu_compute_bound"}
    # hta-semantics §1.5: of several the last one is the launch's.
    return [len(kernels), len({launch["args"]["correlation"]}), len(mine)]


@entry("Instances are of the host")
def instances(ours: Ours, folder: Path) -> list[Number]:
    events = [e for e in raw_trace("amd_mi250").events if "ProfilerStep" in str(e.get("name"))]
    theirs = [event for event in events if hta_keeps(event)]
    return [len(theirs), sum(event["cat"] == "user_annotation" for event in theirs)]


@entry("Loading of data is known")
def loading(ours: Ours, folder: Path) -> list[Number]:
    here = path_fracs(ours, "trace_diff/control", **FIRST_STEP)
    theirs = hta_fracs("trace_diff_control", "ProfilerStep_0")
    return [here["data_loading"], theirs.get("data_loading", 0)]


@entry("Overlapping launches do not wait for each other")
def overlapping_launches(ours: Ours, folder: Path) -> list[Number]:
    calls = [
        span("cudaLaunchKernel", EPOCH_US + 5 * tid, 10, "cuda_runtime", 1, tid, correlation=tid)
        for tid in (1, 2)
    ]
    run = ingested(folder, trace_text(calls))
    run.compute_critical_path()
    edges = run.sql("FROM path_edges WHERE edge = 'operator'").to_pylist()
    # hta-semantics §7.3 A: at the first end all pending starts are taken off the list.
    starts, own = [], []
    for _, call, is_start in sorted(
        (call["ts"] + (0 if is_start else call["dur"]), i, is_start)
        for i, call in enumerate(calls)
        for is_start in (True, False)
    ):
        if is_start:
            starts.append(call)
        else:
            own += [one for one in starts if one == call]
            starts.clear()
    return [calls[0]["dur"], len(own), len([edge for edge in edges if edge["time_ns"] == 10_000])]


TRACE_DIFF = {"base_job": "trace_diff/control", "test_job": "trace_diff/test"}
STEP_1009 = {"base_steps": [1009], "test_steps": [1009]}


@entry("All ranks and steps count")
def all_that_is_chosen(ours: Ours, folder: Path) -> list[Number]:
    theirs = hta("trace_diff", "compare_traces_ALL")
    both = [
        sum(
            ours.run.query(query, **TRACE_DIFF, **chosen).num_rows
            for query in ("kernel_diff", "op_diff")
        )
        for chosen in ({}, STEP_1009)
    ]
    assert both[1] == len(theirs)
    return [len(theirs), both[0], len(theirs)]


@entry("Devices run activities")
def gpu_rows(ours: Ours, folder: Path) -> list[Number]:
    rows = [
        span("gemm", EPOCH_US, 10, "kernel", 0, 7, stream=7, device=0),
        span("loss", EPOCH_US, 10, "gpu_user_annotation", 0, 7, stream=7, device=0),
        span("Stream Sync", EPOCH_US, 10, "cuda_sync", 0, 7, stream=7, device=0),
    ]
    run = ingested(folder, trace_text(rows))
    # hta-semantics §5: rows of which the stream is not -1.
    return [
        len({row["name"] for row in rows if row["args"]["stream"] != -1}),
        run.kernel_diff().num_rows,
    ]


@entry("Short names have no empty parts")
def short_names(ours: Ours, folder: Path) -> list[Number]:
    theirs = hta("trace_diff", "compare_traces_GPU_short")
    names = ours.run.kernel_diff(**TRACE_DIFF, **STEP_1009, short_names=True)["name"].to_pylist()
    assert not any("::::" in name for name in names)
    return [sum("::::" in row["short_name"] for row in theirs), len(theirs), len(names)]


def test_every_entry_has_its_numbers():
    assert list(ENTRIES) == list(ENTRY_NUMBERS)


@needs_hta_outputs
@pytest.mark.parametrize("heading", ENTRY_NUMBERS)
def test_numbers_of_the_differences(real_paths_run, tmp_path, heading):
    shown = numbers_in(ENTRIES[heading])

    def ours(query: str, job: str, **parameters) -> list[dict]:
        return real_paths_run.query(query, only_jobs=[job], **parameters).to_pylist()

    ours.run = real_paths_run
    values = ENTRY_NUMBERS[heading](ours, tmp_path)
    assert shown
    assert len(shown) == len(values), (shown, values)
    wrong = [pair for pair in zip(shown, values, strict=True) if not is_rounded(*pair)]
    assert not wrong, (shown, values)


# Names, parameters, columns


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def tables(text: str) -> Iterator[tuple[list[str], list[list[str]]]]:
    """Header and rows of each table."""
    for found in re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE):
        header, _, *rows = map(cells, found.splitlines())
        yield header, rows


def quoted(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def queries_like_htas() -> dict[str, Query]:
    """Those of a device's time, and the others of which HTA has something like it."""
    newest = Catalog.load().newest
    return {
        name: query
        for name, query in newest.items()
        if query.theme == "gpu" or name in ("stragglers", "critical_path", "critical_path_summary")
    }


QUERIES = queries_like_htas()
OF_TRACE_DIFF = ("kernel_diff", "op_diff")


def test_differences_name_every_method():
    [(header, rows), *_] = tables(DIFFERENCES)
    assert header == ["HTA's `TraceAnalysis`", "here"]
    methods = [name for theirs, _ in rows for name in quoted(theirs)]
    assert set(methods) - {"TraceDiff"} == HTA_METHODS
    for theirs, here in rows:
        if here in ("`hta-sql export critical-path`", "`hta-sql export counters`"):
            continue
        for name in quoted(here):
            if name == "summary()":  # of HTA's graph
                continue
            assert name in {*QUERIES, *OF_TRACE_DIFF}, (theirs, name)
            assert f"[`{name}`](queries.md#{name})" in here


def test_names_in_the_differences_exist():
    """What looks like a name of ours is a query, a parameter, a column, or HTA's."""
    like_htas = {**QUERIES, **{name: Catalog.load().find(name) for name in OF_TRACE_DIFF}}
    columns = {column.name for query in like_htas.values() for column in query.columns}
    parameters = {p.name for query in like_htas.values() for p in query.parameters}
    folders = {name for file in TRACE_FILES for name in (file.job, file.job.split("/")[0])}
    prose = re.sub(r"```.*?```|^\|.*\|$", "", DIFFERENCES, flags=re.DOTALL | re.MULTILINE)
    causes = {"host_wait", "kernel_wait", "other"}
    known = like_htas.keys() | columns | parameters | folders | causes | HTA_METHODS
    known |= {"parent", "parent_id"}  # of call graphs
    known |= {"compare_traces", "ops_diff", "device_type"}
    known |= {"data_loading"}  # a bound, and the parameter of its names
    known |= {name for names in HTA_PARAMETERS.values() for name in names}
    for found in quoted(prose):
        name = re.split(r"[=(]", found)[0]
        if re.fullmatch(r"[a-z0-9]+(_[a-z0-9]+)+|[a-z]+", name):
            assert name in known | {"cuda_sync"}, found


# hta-semantics §4.
HTA_PARAMETERS = {
    "TraceAnalysis": ["trace_files", "trace_dir", "include_last_profiler_step"],
    "critical_path_analysis": ["rank", "annotation", "instance_id", "data_load_events"],
    "overlay_critical_path_analysis": [
        "rank",
        "critical_path_graph",
        "output_dir",
        "only_show_critical_events",
        "show_all_edges",
    ],
    "get_aten_op_kernels_and_delay": ["ranks", "sort_by"],
    "get_comm_comp_overlap": ["visualize"],
    "get_cuda_kernel_launch_stats": [
        "ranks",
        "runtime_cutoff",
        "launch_delay_cutoff",
        "include_memory_events",
        "visualize",
    ],
    "get_cupti_counter_data_with_operators": ["ranks"],
    "get_frequent_cuda_kernel_sequences": [
        "operator_name",
        "output_dir",
        "min_pattern_len",
        "rank",
        "top_k",
        "visualize",
        "compress_other_kernels",
    ],
    "get_gpu_kernel_breakdown": [
        "visualize",
        "duration_ratio",
        "num_kernels",
        "include_memory_kernels",
        "image_renderer",
    ],
    "get_gpu_kernels_with_user_annotations": ["rank", "expand_names", "shorten_names"],
    "get_gpu_user_annotation_breakdown": [
        "use_gpu_annotation",
        "visualize",
        "duration_ratio",
        "num_kernels",
        "allowlist_patterns",
        "image_renderer",
    ],
    "get_idle_time_breakdown": [
        "ranks",
        "streams",
        "visualize",
        "visualize_pctg",
        "show_idle_interval_stats",
        "consecutive_kernel_delay",
    ],
    "get_memory_bw_summary": ["ranks"],
    "get_memory_bw_time_series": ["ranks"],
    "get_potential_stragglers": [
        "profiler_steps",
        "num_candidates",
        "visualize",
        "straggler_identification_impl",
    ],
    "get_profiler_steps": [],
    "get_queue_length_summary": ["ranks"],
    "get_queue_length_time_series": ["ranks"],
    "get_temporal_breakdown": ["visualize"],
    "get_time_spent_blocked_on_full_queue": ["queue_length_dict", "max_queue_length"],
}


def test_every_parameter_of_hta_is_told():
    [(_, rows)] = tables(sections(COMING, 2)["Parameters"])
    left, right = [], []
    for theirs, here, *_ in rows:
        left += [name.split("=")[0] for name in quoted(theirs)]
        right += [name.split("=")[0] for name in quoted(here)]
    told = set(left) | {"trace_files", "trace_dir", "queue_length_dict"}  # positional in the calls
    assert told == {name for names in HTA_PARAMETERS.values() for name in names}
    of_paths = set(inspect.signature(hta_sql.archive.Archive.compute_critical_path).parameters)
    ours = {p.name for query in QUERIES.values() for p in query.parameters}
    assert set(right) <= ours | of_paths
    # And all of ours that such a query has.
    new = quoted(sections(COMING, 2)["New here"])
    assert {
        p.name for name, query in QUERIES.items() if name not in new for p in query.parameters
    } <= set(right) | {"only_jobs", "only_ranks", "only_steps", "only_windows"}


def test_values_of_parameters_are_converted():
    """What the table has here is of the parameter's type, and HTA's in our unit."""
    [(_, rows)] = tables(sections(COMING, 2)["Parameters"])
    for theirs, here, *_ in rows:
        for text in quoted(here):
            name, _, value = text.partition("=")
            given = eval(value)
            takers = [p for q in QUERIES.values() for p in q.parameters if p.name == name]
            assert all(parameter.value(given) == given for parameter in takers), text
            if name.endswith("_ns"):
                assert given == 1000 * int(quoted(theirs)[0].partition("=")[2])


def test_every_query_is_named():
    new = quoted(sections(COMING, 2)["New here"])
    calls = {name for name, _, _ in CALLS}
    assert calls | set(new) == QUERIES.keys()
    assert not calls & set(new)


def test_every_method_is_told():
    headings = {name for heading in sections(COMING, 3) for name in heading.split(", ")}
    [(_, written)] = tables(sections(COMING, 2)["Traces to look at"])
    diff = quoted(sections(COMING, 2)["Differences of traces"])[0].partition(".")[0]
    told = headings | {"get_queue_length_summary_from_time_series", diff}
    told |= {name for theirs, _ in written for name in quoted(theirs)} & HTA_METHODS
    assert told == HTA_METHODS | {"TraceDiff"}
    assert "`get_queue_length_summary_from_time_series`" in COMING


# What HTA gives of which no table was written; hta-semantics §4.10, §4.11.
HTA_SERIES = {
    "queue_length_series": {"ts", "pid", "tid", "stream", "queue_length"},
    "memory_bandwidth_series": {"ts", "pid", "name", "memory_bw_gbps"},
}
HTA_FILES = {
    "temporal_breakdown": "get_temporal_breakdown",
    "comm_comp_overlap": "get_comm_comp_overlap",
    "kernel_kind_breakdown": "get_gpu_kernel_breakdown_part0",
    "kernel_stats": "get_gpu_kernel_breakdown_part1",
    "annotation_stats": "get_gpu_user_annotation_breakdown_cpu",
    "annotated_kernels": "get_gpu_kernels_with_user_annotations_rank0",
    "idle_time_breakdown": "get_idle_time_breakdown_part0",
    "launch_stats": "get_cuda_kernel_launch_stats",
    "op_launch_delay": "get_aten_op_kernels_and_delay",
    "kernel_sequences": "get_frequent_cuda_kernel_sequences_aten_linear_min1",
    "queue_length_summary": "get_queue_length_summary",
    "queue_full_time": "get_time_spent_blocked_on_full_queue",
    "memory_bandwidth_summary": "get_memory_bw_summary",
    "hardware_counters": "get_cupti_counter_data_with_operators",
    "critical_path_summary": "critical_path_full",
}
COLUMN_TABLES = {
    quoted(header[1])[0]: rows
    for header, rows in tables(sections(COMING, 2)["Calls"])
    if header[0] == "HTA" and len(header) == 2
}


def test_our_columns_exist():
    assert COLUMN_TABLES.keys() == HTA_FILES.keys() | HTA_SERIES.keys()
    for name, rows in COLUMN_TABLES.items():
        columns = {column.name for column in QUERIES[name].columns}
        for theirs, here in rows:
            assert quoted(theirs) and quoted(here)
            assert set(quoted(here)) <= columns, name


def test_names_in_the_text_of_a_call_exist():
    """Behind the tables, our columns stand in backticks, too."""
    columns = {column.name for query in QUERIES.values() for column in query.columns}
    for heading, body in sections(COMING, 3).items():
        prose = re.sub(r"```.*?```|^\|.*\|$", "", body, flags=re.DOTALL | re.MULTILINE)
        for name in quoted(prose):
            if name.startswith("is_") or name.endswith(("_ns", "_count")):
                assert name in columns, (heading, name)


@needs_hta_outputs
@pytest.mark.parametrize("query", COLUMN_TABLES)
def test_columns_of_hta_exist(query):
    if query in HTA_SERIES:
        found = HTA_SERIES[query]
    else:
        files = HTA_OUTPUTS.glob(f"*/{HTA_FILES[query]}.csv")
        with open(max(files, key=lambda file: file.stat().st_size), newline="") as file:
            found = {name.split("__")[-1] for name in next(csv.reader(file))}
    told = {name for theirs, _ in COLUMN_TABLES[query] for name in quoted(theirs)}
    assert told <= found
    # All of it is told, but for the rank, and all that HTA copies from the trace.
    if query not in {"annotated_kernels", "hardware_counters"}:
        assert found - told <= {"rank", "tid", "pid"}


# What runs


def calls() -> Iterator[tuple[str, str, dict[str, str]]]:
    """(query, HTA's call, {language: call}) of the blocks of calls; HTA's is that before it."""
    for heading, body in sections(COMING, 3).items():
        [block] = re.findall(r"^```\n(HTA .*?)^```$", body, re.MULTILINE | re.DOTALL)
        for part in re.split(r"^HTA +", block, flags=re.MULTILINE)[1:]:
            theirs, *lines = part.splitlines()
            assert re.findall(r"analyzer\.(\w+)\(", theirs)[0] in heading.split(", ")
            for three in zip(*[iter(lines)] * 3, strict=True):
                ours = dict(line.split(maxsplit=1) for line in three)
                yield re.findall(r"run\.(\w+)\(", ours["Python"])[0], theirs, ours


CALLS = list(calls())


def arguments(query: str, call: str) -> dict:
    """By name, of a call in Python's notation."""
    parsed = ast.parse(call, mode="eval").body
    names = [parameter.name for parameter in QUERIES[query].parameters]
    positional = zip(names, parsed.args, strict=False)
    named = [(keyword.arg, keyword.value) for keyword in parsed.keywords]
    return {name: ast.literal_eval(value) for name, value in [*positional, *named]}


@pytest.mark.parametrize(("query", "theirs", "ours"), CALLS, ids=[call[0] for call in CALLS])
def test_calls_are_the_same(demo_archive, tmp_path, query, theirs, ours):
    method, given = re.fullmatch(r"(?:[\w, ]+ = )?analyzer\.(\w+)\((.*)\)", theirs).groups()
    assert set(re.findall(r"(\w+)=", given)) <= set(HTA_PARAMETERS[method])
    assert list(ours) == ["Python", "SQL", "shell"]
    archive = shutil.copytree(demo_archive, tmp_path / "archive")  # paths are kept in it
    with hta_sql.open(archive) as run:
        if query.startswith("critical_path"):
            run.compute_critical_path(step=1)
        rows = eval(ours["Python"], {"run": run}).to_pylist()
        assert run.sql(ours["SQL"]).to_pylist() == rows
    assert rows or query == "hardware_counters"  # of which the demo has none
    start = f"hta-sql run {query} archive"
    assert f"{ours['shell']} ".startswith(f"{start} ")
    options = ours["shell"].removeprefix(start).split()
    told = arguments(query, ours["Python"])
    assert arguments(query, ours["SQL"].removeprefix("FROM ").replace(":=", "=")) == told
    assert dict(zip(options[::2], options[1::2], strict=True)) == {
        f"--{name.replace('_', '-')}": str(value[0] if isinstance(value, list) else value)
        for name, value in told.items()
    }
    shell = CliRunner().invoke(cli, ["run", query, str(archive), *options, "--format", "json"])
    assert shell.exit_code == 0, shell.output
    assert json.loads(shell.stdout) == json.loads(json.dumps(rows))


def test_traces_to_look_at_are_written(demo_archive, tmp_path, monkeypatch):
    shutil.copytree(demo_archive, tmp_path / "archive")
    monkeypatch.chdir(tmp_path)
    with hta_sql.open("archive") as run:
        run.compute_critical_path(step=1)
    [(_, written)] = tables(sections(COMING, 2)["Traces to look at"])
    commands = [quoted(here)[0] for _, here in written]
    assert len(commands) == 4
    for command in commands:
        result = CliRunner().invoke(cli, command.removeprefix("hta-sql ").split())
        assert result.exit_code == 0, result.output
        assert result.stderr.endswith(" events in out.json.gz\n")
        (tmp_path / "out.json.gz").unlink()


def snippets(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", COMING, re.MULTILINE | re.DOTALL)


def test_python_snippets_run(demo_archive, tmp_path, monkeypatch):
    (tmp_path / "traces").symlink_to(demo_archive.parent / "traces")
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    for text in snippets("python"):
        if text != pandas_snippet():
            exec(text, names)
    assert len(names["rows"]) == 2 and names["own"].column_names == ["rank", "idle_us"]
    with hta_sql.open("two_files") as run:
        assert run.sql("SELECT rank FROM traces ORDER BY rank").to_pylist() == [
            {"rank": 0},
            {"rank": 1},
        ]
    names["run"].close()


def pandas_snippet() -> str:
    [text] = [text for text in snippets("python") if "to_pandas()" in text]
    return text


def test_pandas_snippet_runs_where_there_is_pandas(demo_archive):
    with hta_sql.open(demo_archive) as run:
        names = {"run": run}
        if find_spec("pandas") is None:
            with pytest.raises(ImportError, match="pandas"):
                exec(pandas_snippet(), names)
        else:
            exec(pandas_snippet(), names)
            assert list(names["frame"].columns) == run.temporal_breakdown().column_names


def test_sql_snippet_adds_up_ranks(demo_archive):
    with hta_sql.open(demo_archive) as run:
        rows = run.sql(snippets("sql")[0]).to_pylist()
        whole = run.kernel_kind_breakdown().to_pylist()
    assert {row["rank"] for row in whole} == {0, 1}
    assert sum(row["time_us"] for row in rows) * 1000 == pytest.approx(
        sum(row["time_ns"] for row in whole)
    )
    assert len(rows) == len({row["kinds"] for row in whole})


@needs_hta_outputs
def test_sql_snippet_makes_columns_of_counters(real_run):
    table = real_run.sql(snippets("sql")[1])
    assert table.num_rows == 77
    assert table.column_names[:3] == ["rank", "event_id", "kernel"]
    assert set(table.column_names[3:]) == {
        row["counter"] for row in real_run.hardware_counters().to_pylist()
    }


def test_all_snippets_run():
    """In the tests above: of python all, of sql two."""
    assert len(snippets("sql")) == 2
    languages = re.findall(r"^```(\w*)\n", COMING + DIFFERENCES, re.MULTILINE)
    assert set(languages) == {"", "python", "sql"}
