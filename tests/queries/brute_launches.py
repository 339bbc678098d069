"""Slow and obviously right counterparts of the queries of launches in Python.

Each function takes rows of the tables and gives the rows of its query, in order.
"""

from collections import defaultdict
from fractions import Fraction

from queries.brute_force import grouped, percentile, rounded, selected


def launched(activities, include_memory=True, **only):
    return [
        row
        for row in selected(activities, **only)
        if row["launch_id"] is not None and (include_memory or row["kind"] != "memory")
    ]


def delay_ns(row) -> int:
    return max(0, row["start_ns"] - row["launch_end_ns"])


def launch_stats(
    activities,
    ops,
    runtime_cutoff_ns=50_000,
    launch_delay_cutoff_ns=100_000,
    include_memory=True,
    **only,
):
    rows = launched(activities, include_memory, **only)
    for row in sorted(rows, key=lambda row: (row["job"], row["rank"], row["event_id"])):
        cpu_ns = row["launch_end_ns"] - row["launch_start_ns"]
        yield {
            "job": row["job"],
            "rank": row["rank"],
            "event_id": row["event_id"],
            "launch_id": row["launch_id"],
            "correlation": row["correlation"],
            "launch_name": row["launch_name"],
            "name": row["name"],
            "device": row["device"],
            "stream": row["stream"],
            "step": row["step"],
            "cpu_ns": cpu_ns,
            "gpu_ns": row["end_ns"] - row["start_ns"],
            "launch_delay_ns": delay_ns(row),
            "is_short": row["end_ns"] - row["start_ns"] < cpu_ns,
            "is_runtime_outlier": cpu_ns > runtime_cutoff_ns,
            "is_delay_outlier": delay_ns(row) > launch_delay_cutoff_ns,
        }


def launch_summary(
    activities,
    ops,
    runtime_cutoff_ns=50_000,
    launch_delay_cutoff_ns=100_000,
    include_memory=True,
    **only,
):
    rows = launched(activities, include_memory, **only)
    for (job, rank), of_rank in grouped(rows, "job", "rank"):
        cpu, gpu, delays = [], [], []
        for _, of_launch in grouped(of_rank, "launch_id"):
            first = min(of_launch, key=lambda row: row["start_ns"])
            cpu.append(first["launch_end_ns"] - first["launch_start_ns"])
            gpu.append(sum(row["end_ns"] - row["start_ns"] for row in of_launch))
            delays.append(delay_ns(first))
        yield {
            "job": job,
            "rank": rank,
            "launch_count": len(cpu),
            "activity_count": len(of_rank),
            "short_count": sum(on_gpu < on_cpu for on_gpu, on_cpu in zip(gpu, cpu, strict=True)),
            "runtime_outlier_count": sum(ns > runtime_cutoff_ns for ns in cpu),
            "delay_outlier_count": sum(ns > launch_delay_cutoff_ns for ns in delays),
            "early_start_count": sum(row["start_ns"] < row["launch_start_ns"] for row in of_rank),
            "mean_cpu_ns": rounded(Fraction(sum(cpu), len(cpu))),
            "mean_gpu_ns": rounded(Fraction(sum(gpu), len(gpu))),
            "p50_launch_delay_ns": rounded(percentile(delays, 50)),
            "p95_launch_delay_ns": rounded(percentile(delays, 95)),
            "max_launch_delay_ns": max(delays),
        }


def innermost_aten(op_of: dict, job, rank, op_id):
    """This operator, or the first around it, whose name begins with aten::."""
    passed = set()
    while (job, rank, op_id) in op_of and op_id not in passed:
        op = op_of[job, rank, op_id]
        if op["name"].startswith("aten::"):
            return op
        passed.add(op_id)
        op_id = op["op_id"]
    return None


def rounded_mean(values: list[int]) -> int:
    """To whole numbers, halves away from zero."""
    mean = Fraction(sum(values), len(values))
    return rounded(mean) if mean >= 0 else -rounded(-mean)


def op_launch_delay(activities, ops, **only):
    op_of = {
        (op["job"], op["rank"], op["event_id"]): op
        for op in ops
        if op["cat"] in ("cpu_op", "Operator")
    }
    calls = defaultdict(list)
    for row in launched(activities, **only):
        op = innermost_aten(op_of, row["job"], row["rank"], row["op_id"])
        if op:
            calls[row["job"], row["rank"], op["event_id"]].append(row)
    delays = defaultdict(list)
    for (job, rank, op_id), of_call in calls.items():
        op = op_of[job, rank, op_id]
        by_start = sorted(of_call, key=lambda row: (row["start_ns"], row["event_id"]))
        sequence = " | ".join(row["name"] for row in by_start)
        first = min(
            of_call, key=lambda row: (row["launch_start_ns"], row["launch_id"], row["start_ns"])
        )
        delays[job, rank, op["name"], sequence].append(
            (
                first["launch_start_ns"] - op["start_ns"],
                first["start_ns"] - first["launch_start_ns"],
            )
        )
    in_order = sorted(delays.items(), key=lambda item: (*item[0][:2], -len(item[1]), *item[0][2:]))
    for (job, rank, operator, sequence), of_calls in in_order:
        yield {
            "job": job,
            "rank": rank,
            "operator": operator,
            "sequence": sequence,
            "count": len(of_calls),
            "mean_op_to_launch_ns": rounded_mean([to_launch for to_launch, _ in of_calls]),
            "mean_launch_to_kernel_ns": rounded_mean([to_kernel for _, to_kernel in of_calls]),
        }
