"""Numbers of entries on what counts as GPU time, breakdowns and kernels."""

from itertools import groupby
from pathlib import Path

from hand_written import ingested, span, trace_text
from hta_docs.documents import Number, Ours
from hta_docs.entries import UNROUNDED, entry, hta, one, steps, us
from hta_docs.times import EPOCH_US


@entry("Synchronisations are not busy time")
def synchronisations(ours: Ours, folder: Path) -> list[Number]:
    [theirs] = hta("alexnet", "get_temporal_breakdown")
    [row] = ours("temporal_breakdown", "alexnet")
    return [
        float(theirs["non_compute_time(us)"]),
        float(theirs["kernel_time(us)"]),
        us(row["non_compute_ns"]),
        us(row["span_ns"]),
    ]


@entry("Host operators are not GPU time")
def host_rows(ours: Ours, folder: Path) -> list[Number]:
    [theirs] = hta("triton", "get_temporal_breakdown")
    [row] = ours("temporal_breakdown", "triton")
    assert row["span_ns"] == row["compute_ns"]
    return [float(theirs["compute_time(us)"]), us(row["compute_ns"])]


@entry("Kernel kinds follow different rules")
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


@entry("Each device has its own row")
def devices(ours: Ours, folder: Path) -> list[Number]:
    kernels = [
        span("gemm", EPOCH_US + 5 * device, 10, "kernel", device, 7, device=device, stream=7)
        for device in (0, 1)
    ]
    run = ingested(folder, trace_text(kernels))
    rows = run.temporal_breakdown().to_pylist()
    [compute], [length] = ({row[name] for row in rows} for name in ("compute_ns", "span_ns"))
    theirs = max(k["ts"] + k["dur"] for k in kernels) - min(k["ts"] for k in kernels)
    return [2, 10, 5, 1, theirs, theirs, len(rows), us(compute), us(length)]


# Breakdowns and kernels


@entry("Times of kinds are not cut to microseconds")
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


@entry("Times of kinds are not summed over ranks")
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


@entry("top_k is the number of names")
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
