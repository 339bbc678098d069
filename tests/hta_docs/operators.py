"""Numbers of entries on launches, operators and annotations."""

import json
from pathlib import Path

from hta_cases import raw_trace
from hta_docs.documents import Number, Ours
from hta_docs.entries import UNROUNDED, entry, hta, one, raises, steps, us
from real_files import TRACE_FILES
from real_ops.hta_call_graph import HTA_FIGURES, KNOWN_DIFFERENCES, by_hta, figures

from hta_sql.export.sequences import export_sequences


@entry("Every launched activity has a row")
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


@entry("Operators at any depth have sequences")
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


@entry("Sequences contain only GPU activities")
def sequences_of_activities(ours: Ours, folder: Path) -> list[Number]:
    theirs = hta("alexnet", "get_frequent_cuda_kernel_sequences_aten_conv2d_min1")
    here = ours("kernel_sequences", "alexnet", operator="aten::conv2d", min_length=1)
    patterns = {
        " | ".join(name for name in row["pattern"].split("|")[1:] if name != "Stream Wait Event")
        for row in theirs
    }
    assert patterns == {row["sequence"] for row in here}
    return [len(theirs), len(here)]


@entry("A kernel belongs to the annotation around its launch")
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


@entry("A GPU annotation belongs to its host annotation's step")
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


@entry("Exports keep all other events")
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


@entry("An operator's kernels are those that it launched")
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
