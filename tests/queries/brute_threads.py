"""Slow and obviously right counterpart of thread_stats in Python.

It takes rows of gpu_activities, host_ops and events, and gives the rows of the query, in order.
Nothing of the rows' places in call stacks is used: at each instant the innermost span is the last
one to begin of those that are open. It also serves for real traces, so that it walks from instant
to instant at which something changes.
"""

import json
import re
from collections import defaultdict
from heapq import heappop, heappush
from itertools import pairwise

from queries.brute_annotations import covered
from queries.brute_force import grouped, selected

KINDS = ("operator", "annotation", "python", "runtime", "sync", "data_loading")


def category(op) -> str:
    return {
        "cpu_op": "operator",
        "Operator": "operator",
        "user_annotation": "annotation",
        "python_function": "python",
    }.get(op["cat"], "runtime")


def in_order(op) -> tuple:
    return op["start_ns"], -op["end_ns"], op["event_id"]


def is_loader(op) -> bool:
    name = op["name"] or ""
    return category(op) in ("operator", "annotation") and name.startswith("enumerate(DataLoader)#")


def is_step(op) -> bool:
    return category(op) != "python" and bool(
        re.fullmatch(r"ProfilerStep\s*#\s*\d+\D*", op["name"] or "")
    )


def is_autograd(op) -> bool:
    return category(op) == "operator" and "autograd::" in (op["name"] or "")


def kind(op, loaders) -> str:
    for loader in loaders:
        if in_order(loader) <= in_order(op) and op["end_ns"] <= loader["end_ns"]:
            return "data_loading"
    if category(op) == "runtime" and "synchronize" in (op["name"] or "").lower():
        return "sync"
    return category(op)


def innermost(ops):
    """(the innermost span, ns) from each instant at which something changes to the next."""
    begun = sorted(ops, key=in_order, reverse=True)
    instants = sorted({at for op in ops for at in (op["start_ns"], op["end_ns"])})
    is_open = []
    for at, until in pairwise(instants):
        while begun and begun[-1]["start_ns"] <= at:
            op = begun.pop()
            heappush(is_open, ([-part for part in in_order(op)], op["event_id"], op))
        while is_open and is_open[0][2]["end_ns"] <= at:
            heappop(is_open)
        if is_open:
            yield is_open[0][2], until - at


def name_of(event) -> str | None:
    try:
        name = json.loads(event["args"]).get("name")
    except (TypeError, ValueError):
        return None
    return name


def thread_stats(activities, ops, events, only_steps=None, **only):
    names = {}
    for event in sorted(selected(events, **only), key=lambda event: event["event_id"]):
        if event["ph"] == "M" and event["name"] == "thread_name" and name_of(event) is not None:
            names[event["job"], event["rank"], event["pid"], event["tid"]] = name_of(event)
    launched = defaultdict(list)
    for row in selected(activities, only_steps=only_steps, **only):
        if row["launch_id"] is not None:
            launched[row["job"], row["rank"], row["launch_pid"], row["launch_tid"]].append(row)
    ops = selected(ops, **only)
    with_steps = {(op["job"], op["rank"]) for op in ops if is_step(op)}
    found = []
    for key, of_thread in grouped(ops, "job", "rank", "pid", "tid"):
        picked = selected(of_thread, only_steps=only_steps)
        if not picked:
            continue
        job, rank, pid, tid = key
        role = None
        if any(is_step(op) for op in of_thread):
            role = "main"
        elif (job, rank) not in with_steps and pid is not None and pid == tid:
            role = "main"
        elif any(is_autograd(op) for op in of_thread):
            role = "autograd"
        loaders = [op for op in of_thread if is_loader(op)]
        times = dict.fromkeys(KINDS, 0)
        picked_ids = {op["event_id"] for op in picked}
        for op, ns in innermost(of_thread):
            if op["event_id"] in picked_ids:
                times[kind(op, loaders)] += ns
        kernels = launched[key]
        counts = {
            name: sum(category(op) == name for op in picked)
            for name in ("operator", "annotation", "python", "runtime")
        }
        start_ns = min(op["start_ns"] for op in picked)
        found.append(
            {
                "job": job,
                "rank": rank,
                "pid": pid,
                "tid": tid,
                "thread_name": names.get(key),
                "role": role,
                "start_ns": start_ns,
                "span_ns": max(op["end_ns"] for op in picked) - start_ns,
                "busy_ns": sum(times.values()),
            }
            | {f"{name}_ns": ns for name, ns in times.items()}
            | {
                "op_count": counts["operator"],
                "annotation_count": counts["annotation"],
                "python_count": counts["python"],
                "runtime_count": counts["runtime"],
                "launch_count": len({row["launch_id"] for row in kernels}),
                "kernel_count": len(kernels),
                "kernel_ns": sum(row["dur_ns"] for row in kernels),
                "kernel_busy_ns": covered(kernels),
            }
        )
    # Python's sort keeps the order of threads that are as busy.
    return sorted(found, key=lambda row: (row["job"], row["rank"], -row["busy_ns"]))
