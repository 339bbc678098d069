"""Numbers of entries on idle time, queues and copies."""

from decimal import Decimal
from itertools import pairwise
from pathlib import Path

from hta_cases import raw_trace
from hta_docs.documents import Number, Ours, is_rounded
from hta_docs.entries import UNROUNDED, entry, hta, one, steps, us


@entry("Gaps are cut at the launch")
def cut_gaps(ours: Ours, folder: Path) -> list[Number]:
    [step] = steps("two_ranks")
    wanted = {"rank": "0", "stream": "7", "idle_category": "host_wait"}
    theirs = float(one(hta("two_ranks", "get_idle_time_breakdown_part0"), **wanted)["idle_time"])
    here, by_hta = (
        one(
            ours("idle_time_breakdown", "two_ranks", version=version, only_steps=[step]),
            rank=0,
            stream=7,
            cause="host_wait",
        )["idle_ns"]
        for version in (2, 1)
    )
    assert us(by_hta) == theirs
    return [step, 0, 7, theirs, us(here)]


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
    row = one(ours("idle_time_breakdown", "b200_eager", version=1), cause="kernel_wait")
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
        for row in ours(
            "idle_time_breakdown", "two_ranks", version=1, only_steps=steps("two_ranks")
        )
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


@entry("Every launch enters the queue")
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


@entry("Ties in the queue have a fixed order")
def ties(ours: Ours, folder: Path) -> list[Number]:
    theirs = one(hta("simple_add", "get_queue_length_summary"), stream="7")
    here = one(ours("queue_length_summary", "simple_add"), stream=7)
    return [7, float(theirs["queue_length__mean"]), here["mean"]]


@entry("The mean queue length is also given over time")
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


@entry("Bandwidth is zero while no copy runs")
def bandwidth(ours: Ours, folder: Path) -> list[Number]:
    kept = steps("trace_diff_test")
    theirs = one(hta("trace_diff_test", "get_memory_bw_summary"), name="Memcpy DtoD")
    rows = ours("memory_bandwidth_summary", "trace_diff/test", only_steps=kept)
    here = one(rows, copy_kind="Memcpy DtoD")
    figures = ("min", "count", "mean", "max")
    rest, *others = (float(theirs[f"memory_bw_gbps__{figure}"]) for figure in figures)
    return [rest, kept[0], kept[-1], *others, here["count"], here["mean"], here["max"]]


@entry("Copies without a recorded bandwidth have rows")
def copies(ours: Ours, folder: Path) -> list[Number]:
    rows = ours("memory_bandwidth_summary", "amd_mi250")
    theirs = hta("amd_mi250", "get_memory_bw_summary")
    return [len(theirs), len(rows), rows[0]["copy_count"], us(rows[0]["time_ns"])]
