"""Plain counterparts of kernel_sequences and hardware_counters.

They go up the call stack by parent_id, where the queries go by time or by op_id.
"""

import json
import math
from collections import defaultdict

from queries.brute_force import grouped, selected


def is_op(row) -> bool:
    return row["cat"] in ("cpu_op", "Operator")


def is_call(row) -> bool:
    return row["cat"] == "Runtime" or (row["cat"] or "").endswith(("_runtime", "_driver"))


class Stacks:
    """The callers of host operations."""

    def __init__(self, ops) -> None:
        self.by_id = {(row["job"], row["rank"], row["event_id"]): row for row in ops}

    def around(self, job, rank, event_id):
        """Callers, from the innermost."""
        row = self.by_id[job, rank, event_id]
        while row["parent_id"] is not None:
            row = self.by_id[job, rank, row["parent_id"]]
            yield row


def key_of(row):
    return row["job"], row["rank"], row["event_id"]


def in_stack_order(row):
    return row["start_ns"], -row["end_ns"], row["event_id"]


def kernel_sequences(
    activities, ops, operator, min_length=3, only_jobs=None, only_ranks=None, only_steps=None
):
    matching = {
        key_of(row)
        for row in selected(ops, only_jobs, only_ranks, only_steps)
        if is_op(row) and operator and operator in row["name"]
    }
    # The outermost matching operator that a row is or is inside of; callers come before.
    outermost = {}
    for row in sorted(ops, key=in_stack_order):
        own = row if key_of(row) in matching else None
        caller = (row["job"], row["rank"], row["parent_id"])
        outermost[key_of(row)] = outermost.get(caller) or own
    launched = defaultdict(list)
    for activity in activities:
        launch = (activity["job"], activity["rank"], activity["launch_id"])
        if op := outermost.get(launch):
            launched[key_of(op)].append(activity)
    calls = [
        {
            "job": op["job"],
            "rank": op["rank"],
            "operator": op["name"],
            "op": op,
            "activities": sorted(launched[key], key=lambda a: (a["start_ns"], a["event_id"])),
        }
        for key, op in outermost.items()
        if op and key == key_of(op)
    ]
    for call in calls:
        call["sequence"] = " | ".join(a["name"] or "" for a in call["activities"])
    calls = [c for c in calls if len(c["activities"]) >= min_length]
    grain = ("job", "rank", "operator", "sequence")
    rows = [
        dict(zip(grain, key, strict=True))
        | {
            "count": len(alike),
            "kernel_count": max(len(call["activities"]) for call in alike),
            "gpu_ns": sum(a["dur_ns"] for call in alike for a in call["activities"]),
            "host_ns": sum(call["op"]["dur_ns"] for call in alike),
            "example_event_id": min(call["op"]["event_id"] for call in alike),
        }
        for key, alike in grouped(calls, *grain)
    ]
    return sorted(
        rows,
        key=lambda r: (
            r["job"],
            r["rank"],
            -r["count"],
            r["operator"].encode(),
            r["sequence"].encode(),
        ),
    )


def numbers(args) -> dict[str, float]:
    """The finite numbers of a JSON object; the last of those with one name."""
    pairs = json.loads(args or "null", object_pairs_hook=list)
    found = {}
    for name, value in pairs if (args or "").startswith("{") else ():
        if isinstance(value, int | float) and not isinstance(value, bool):
            try:
                found |= {name: float(value)} if math.isfinite(value) else {}
            except OverflowError:
                pass
    return found


def launches_kernel(row) -> bool:
    _, launch, rest = (row["name"] or "").partition("Launch")
    return is_call(row) and bool(launch) and "Kernel" in rest


def hardware_counters(events, ops, only_jobs=None, only_ranks=None, only_steps=None):
    stacks = Stacks(ops)
    rows = []
    launches = {
        rank: sorted(of_rank, key=lambda row: (row["start_ns"], row["event_id"]))
        for rank, of_rank in grouped([row for row in ops if launches_kernel(row)], "job", "rank")
    }
    ranges = [
        row
        for row in selected(events, only_jobs, only_ranks)
        if row["ph"] == "X" and row["cat"] == "cuda_profiler_range"
    ]
    for rank, of_rank in grouped(ranges, "job", "rank"):
        of_rank = sorted(of_rank, key=lambda row: (row["start_ns"], row["event_id"]))
        calls = launches.get(rank, [])
        if len(calls) != len(of_rank):
            calls = [None] * len(of_rank)
        for row, call in zip(of_rank, calls, strict=True):
            step = call and call["step"]
            if only_steps is not None and step not in only_steps:
                continue
            names = (
                [op["name"] or "" for op in stacks.around(*key_of(call)) if is_op(op)]
                if call
                else []
            )
            for counter, value in sorted(
                numbers(row["args"]).items(), key=lambda item: item[0].encode()
            ):
                rows.append(
                    {
                        "job": row["job"],
                        "rank": row["rank"],
                        "event_id": row["event_id"],
                        "counter": counter,
                        "value": value,
                        "kernel": row["name"],
                        "start_ns": row["start_ns"],
                        "dur_ns": row["dur_ns"],
                        "launch_id": call and call["event_id"],
                        "step": step,
                        "top_op": names[-1] if names else None,
                        "bottom_op": names[0] if names else None,
                        "op_stack": ";".join(reversed(names)) if names else None,
                    }
                )
    return rows


def place(ops) -> None:
    """Fill in what ingest finds of the call stacks: parent_id, op_id, cut_ns."""
    for _, thread in grouped(ops, "job", "rank", "pid", "tid"):
        stack = []
        for row in sorted(thread, key=in_stack_order):
            while stack and not holds(stack[-1], row):
                left = stack.pop()
                if left["end_ns"] > row["start_ns"]:
                    left["cut_ns"] = row["start_ns"]
            callers = stack[::-1]
            row["parent_id"] = callers[0]["event_id"] if callers else None
            row["op_id"] = next((r["event_id"] for r in callers if is_op(r)), None)
            stack.append(row)


def holds(outer, inner) -> bool:
    """Whether one lies in the other, which begins no later; empty ones at one instant nest."""
    if inner["end_ns"] > outer["end_ns"]:
        return False
    return inner["start_ns"] < outer["end_ns"] or outer["start_ns"] == inner["end_ns"]
