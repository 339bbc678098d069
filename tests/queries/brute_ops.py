"""Slow and obviously right counterparts of op_stats and op_calls in Python.

Each function takes rows of gpu_activities and host_ops, and gives the rows of its query, in order.
"""

from collections import defaultdict
from statistics import stdev

from queries.brute_annotations import covered
from queries.brute_force import fraction, grouped, selected, span

GROUP = ("job", "rank", "name", "input_dims", "input_types", "input_strides")


def key(row) -> tuple:
    return row["job"], row["rank"], row["event_id"]


def operators(ops) -> dict[tuple, dict]:
    return {key(row): row for row in ops if row["cat"] in ("cpu_op", "Operator")}


def with_all_around(calls, row) -> list[dict]:
    """The operators that something lies in, from the inside out."""
    found = []
    while row["op_id"] is not None:
        row = calls[row["job"], row["rank"], row["op_id"]]
        found.append(row)
    return found


def launched_in(calls, activities) -> dict[tuple, list[dict]]:
    """The activities in the subtree of each call, by its key."""
    found = defaultdict(list)
    for row in activities:
        for call in with_all_around(calls, row):
            found[key(call)].append(row)
    return found


def matching(calls, name_contains, **only) -> list[dict]:
    return [
        row
        for row in selected(calls.values(), **only)
        if name_contains is None or name_contains in (row["name"] or "")
    ]


def total(rows) -> int:
    return sum(row["dur_ns"] for row in rows)


def is_recomputed(calls, activity) -> bool:
    """Whether an operator around its launch repeats a part of the forward pass: it is in a backward
    pass, and records an autograd node of its own."""
    return any(
        call.get("is_backward")
        and call.get("sequence_number") is not None
        and call["sequence_number"] >= 0
        and not call.get("fwd_thread_id")
        for call in with_all_around(calls, activity)
    )


def percentile(values: list[int], share: float) -> int | None:
    if not values:
        return None
    values = sorted(values)
    at = share * (len(values) - 1)
    low = int(at)
    high = min(low + 1, len(values) - 1)
    return int(values[low] + (values[high] - values[low]) * (at - low) + 0.5)


# Of the names of random activities; other computations match no rule.
CATEGORIES = {"sgemm": "gemm", "softmax": "softmax"}
# Operators that do one thing.
OPERATORS = {"aten::mm": "gemm", "aten::linear": "gemm", "aten::add": "elementwise"}


def main_category(kernels, operator) -> str | None:
    """The category with most time; of several the first by name."""
    times = defaultdict(int)
    for row in kernels:
        if row["kind"] in ("communication", "memory"):
            category = row["kind"]
        else:
            category = OPERATORS.get(operator) or CATEGORIES.get(row["name"], "other")
        times[category] += row["dur_ns"]
    return min(times, key=lambda category: (-times[category], category), default=None)


def deviation(values: list[int]) -> int | None:
    if not values:
        return None
    return round(stdev(values)) if len(values) > 1 else 0


def op_stats(
    activities, ops, by_shape=False, by_strides=False, strides=None, name_contains=None, **only
):
    """`strides`: of calls by their key."""
    calls = operators(ops)
    launched = launched_in(calls, activities)
    called_ns = defaultdict(int)
    for row in ops:
        until_ns = row["end_ns"] if row["cut_ns"] is None else row["cut_ns"]
        called_ns[row["job"], row["rank"], row["parent_id"]] += until_ns - row["start_ns"]

    strides = strides if by_strides else {}
    no_shape = {} if by_shape or by_strides else {"input_dims": None, "input_types": None}
    measured = [
        row | no_shape | {"input_strides": strides.get(key(row))}
        for row in matching(calls, name_contains, **only)
    ]
    result = []
    for of_group, group in grouped(measured, *GROUP):
        in_group = {key(row) for row in group}
        outermost = [
            row for row in group if not in_group & {key(one) for one in with_all_around(calls, row)}
        ]
        kernels = list({key(row): row for one in group for row in launched[key(one)]}.values())
        kernel_ns = total(kernels)
        span_ns = sum(span(launched[key(one)]) for one in outermost if launched[key(one)])
        times = [total(launched[key(one)]) for one in outermost if launched[key(one)]]
        own = [row for row in kernels if (row["job"], row["rank"], row["op_id"]) in in_group]
        result.append(
            dict(zip(GROUP, of_group, strict=True))
            | {
                "count": len(group),
                "host_total_ns": total(group),
                "host_self_ns": sum(row["dur_ns"] - called_ns[key(row)] for row in group),
                "kernel_count": len(kernels),
                "kernel_ns": kernel_ns,
                "kernel_busy_ns": covered(kernels),
                "kernel_span_ns": span_ns,
                "self_kernel_ns": total(own),
                "gpu_utilization_frac": fraction(kernel_ns, span_ns),
                "example_event_id": min(row["event_id"] for row in group),
                "launching_call_count": len(times),
                "kernel_min_ns": min(times, default=None),
                "kernel_p50_ns": percentile(times, 0.5),
                "kernel_p95_ns": percentile(times, 0.95),
                "kernel_max_ns": max(times, default=None),
                "kernel_stddev_ns": deviation(times),
                "recomputed_ns": total(row for row in kernels if is_recomputed(calls, row)),
                "category": main_category(own, group[0]["name"]),
            }
        )
    # Stable: of equal times in the order of names, shapes and types, none last.
    return sorted(
        result, key=lambda row: (row["job"], row["rank"], -row["kernel_ns"], -row["host_total_ns"])
    )


def op_calls(activities, ops, name_contains=None, min_kernels=0, **only):
    calls = operators(ops)
    launched = launched_in(calls, activities)
    for row in sorted(matching(calls, name_contains, **only), key=key):
        kernels = launched[key(row)]
        if len(kernels) < min_kernels:
            continue
        span_ns = span(kernels) if kernels else 0
        yield {
            column: row[column]
            for column in (
                "job",
                "rank",
                "event_id",
                "name",
                "step",
                "start_ns",
                "dur_ns",
                "depth",
                "parent_id",
            )
        } | {
            "num_kernels": len(kernels),
            "kernel_dur_sum_ns": total(kernels),
            "kernel_span_ns": span_ns,
            "gpu_utilization_frac": fraction(total(kernels), span_ns),
            "input_dims": row["input_dims"],
            "input_types": row["input_types"],
            "is_backward": row["is_backward"],
            "forward_event_id": row["forward_id"],
        }
