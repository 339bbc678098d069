"""Numbers of entries on critical paths and differences of traces."""

from pathlib import Path

from hand_written import ingested, span, trace_text
from hta_cases import raw_trace
from hta_docs.documents import Number, Ours
from hta_docs.entries import entry, hta, us
from hta_docs.times import EPOCH_US, hta_keeps


def path_fracs(ours: Ours, job: str, **window) -> dict[str, float]:
    """In percent, by what bounds it."""
    [computed] = ours.run.compute_critical_path(only_jobs=[job], **window)
    rows = ours("critical_path_summary", job, only_windows=[computed.path_window])
    return {row["bound_by"]: 100 * row["time_frac"] for row in rows}


def hta_fracs(folder: str, file: str) -> dict[str, float]:
    return {row["bound_by"]: float(row["pct"]) for row in hta(folder, f"critical_path_{file}")}


FIRST_STEP = {"annotation": "ProfilerStep"}


@entry("The autograd and the training thread take turns")
def both_threads(ours: Ours, folder: Path) -> list[Number]:
    [computed] = ours.run.compute_critical_path(only_jobs=["amd_mi250"], **FIRST_STEP)
    rows = ours("critical_path_summary", "amd_mi250", only_windows=[computed.path_window])
    return [7448, us(sum(row["time_ns"] for row in rows))]  # hta-semantics §9.2


@entry("Waits are inferred if the trace does not record them")
def found_out(ours: Ours, folder: Path) -> list[Number]:
    theirs = hta_fracs("trace_diff_test", "ProfilerStep_0")
    here = path_fracs(ours, "trace_diff/test", **FIRST_STEP)
    return [100, theirs["cpu_bound"], here["gpu_compute_bound"], here["gpu_communication_bound"]]


@entry("A copy that waits takes no time")
def waiting_copies(ours: Ours, folder: Path) -> list[Number]:
    [computed] = ours.run.compute_critical_path(only_jobs=["trace_diff/control"], **FIRST_STEP)
    [edge] = ours.run.sql(
        "FROM path_edges WHERE job = 'trace_diff/control' AND path_window = $window "
        "AND name = 'cudaMemcpyAsync' AND edge = 'operator' ORDER BY end_ns - start_ns DESC "
        "LIMIT 1",
        {"window": computed.path_window},
    ).to_pylist()
    return [us(edge["end_ns"] - edge["start_ns"]), us(edge["time_ns"])]


@entry("The later of launch and previous activity counts")
def last_to_come(ours: Ours, folder: Path) -> list[Number]:
    overhead = "gpu_kernel_kernel_overhead"
    theirs = hta_fracs("mi300_bert", "ProfilerStep_0")
    return [theirs[overhead], path_fracs(ours, "mi300_bert", **FIRST_STEP)[overhead], 1.5]


@entry("A graph launch has all its activities")
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


@entry("Instances are counted on the host")
def instances(ours: Ours, folder: Path) -> list[Number]:
    events = [e for e in raw_trace("amd_mi250").events if "ProfilerStep" in str(e.get("name"))]
    theirs = [event for event in events if hta_keeps(event)]
    return [len(theirs), sum(event["cat"] == "user_annotation" for event in theirs)]


@entry("Data loading is recognised")
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


@entry("All ranks and steps are compared")
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


@entry("A device runs only activities")
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
