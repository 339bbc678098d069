"""Slow and obviously right counterparts of memory_timeline and memory_peak.

`steps` are the marks of steps: dicts with job, rank, event_id, step, start_ns and end_ns.
"""

import json
from fractions import Fraction
from math import floor

from queries.brute_force import grouped, selected


def number(value):
    """A whole number, also in quotes; what else there may be is none."""
    if isinstance(value, str):
        value = int(value) if value.lstrip("-").isdigit() else None
    return value if isinstance(value, int) and -(2**63) <= value < 2**63 else None


def step_at(at, marks):
    around = [m for m in marks if m["start_ns"] <= at < m["end_ns"]]
    last = max(around, key=lambda m: (m["start_ns"], m["event_id"]), default=None)
    return last and last["step"]


def instants(events, steps, only_steps=None, **only):
    """What the selected instants tell, in the order of the file."""
    marks = {rank: rows for rank, rows in grouped(steps, "job", "rank")}
    rows = []
    for event in sorted(selected(events, **only), key=lambda row: row["event_id"]):
        if event["name"] != "[memory]" or event["ph"] not in ("i", "I"):
            continue
        try:
            args = json.loads(event["args"])
        except (ValueError, TypeError):
            args = None
        args = args if isinstance(args, dict) else {}
        kind = number(args.get("Device Type"))
        allocated = number(args.get("Total Allocated"))
        reserved = number(args.get("Total Reserved"))
        known = None not in (allocated, reserved) and 0 < reserved >= allocated
        rows.append(
            {
                "job": event["job"],
                "rank": event["rank"],
                "device": -1 if kind == 0 else number(args.get("Device Id")),
                "device_type": kind,
                "event_id": event["event_id"],
                "pid": event["pid"],
                "tid": event["tid"],
                "at_ns": event["start_ns"],
                "bytes": number(args.get("Bytes")),
                "allocated": allocated,
                "reserved": reserved,
                "unallocated": reserved - allocated if known else None,
                "step": step_at(event["start_ns"], marks.get((event["job"], event["rank"]), [])),
            }
        )
    return selected(rows, only_steps=only_steps)


def known(rows, column):
    return [row[column] for row in rows if row[column] is not None]


DEVICE = "job", "rank", "device", "device_type"


def memory_timeline(events, steps, bucket_ns=None, **only):
    rows = instants(events, steps, **only)
    in_buckets = bucket_ns is not None and bucket_ns > 0
    for row in rows:
        if in_buckets:
            row["at_ns"] = row["at_ns"] // bucket_ns * bucket_ns
    for key, group in grouped(rows, *DEVICE, "at_ns"):
        allocated, reserved = known(group, "allocated"), known(group, "reserved")
        changes = known(group, "bytes")
        yield dict(zip((*DEVICE, "at_ns"), key, strict=True)) | {
            "allocated_bytes": (max(allocated) if in_buckets else allocated[-1])
            if allocated
            else None,
            "reserved_bytes": (max(reserved) if in_buckets else reserved[-1]) if reserved else None,
            "change_bytes": sum(changes) if changes else None,
            "change_count": len(group),
        }


def growth(rows, marks, only_steps):
    """The mean growth of a device from the end of the first step to that of the last."""
    ends = {}
    for mark in selected(marks, only_steps=only_steps):
        ends[mark["step"]] = max(mark["end_ns"], ends.get(mark["step"], mark["end_ns"]))
    if len(ends) < 2:
        return None
    held = []
    for step in (min(ends), max(ends)):
        before = [row for row in rows if row["allocated"] is not None and row["at_ns"] < ends[step]]
        last = max(before, key=lambda row: (row["at_ns"], row["event_id"]), default=None)
        held.append(last and last["allocated"])
    if None in held:
        return None
    more = Fraction(held[1] - held[0], max(ends) - min(ends))
    return floor(more + Fraction(1, 2)) if more >= 0 else -floor(-more + Fraction(1, 2))


def memory_peak(events, ops, steps, only_steps=None, **only):
    marks = {rank: rows for rank, rows in grouped(steps, "job", "rank")}
    threads = dict(grouped(ops, "job", "rank", "pid", "tid"))
    for key, rows in grouped(instants(events, steps, only_steps=only_steps, **only), *DEVICE):
        told = [row for row in rows if row["allocated"] is not None]
        peak = min(
            told,
            key=lambda row: (-row["allocated"], row["at_ns"], row["event_id"]),
            default=dict.fromkeys(
                ("allocated", "at_ns", "step", "event_id", "unallocated", "pid", "tid")
            ),
        )
        thread = (
            []
            if None in (peak["pid"], peak["tid"])
            else threads.get((*key[:2], peak["pid"], peak["tid"]), [])
        )
        stack = sorted(
            (
                op
                for op in thread
                if op["start_ns"]
                <= peak["at_ns"]
                < (op["end_ns"] if op["cut_ns"] is None else op["cut_ns"])
            ),
            key=lambda op: (op["start_ns"], -op["end_ns"], op["event_id"]),
        )
        operators = [op for op in stack if op["cat"] in ("cpu_op", "Operator")]
        yield dict(zip(DEVICE, key, strict=True)) | {
            "peak_allocated_bytes": peak["allocated"],
            "at_ns": peak["at_ns"],
            "step": peak["step"],
            "op": operators[-1]["name"] if operators else None,
            "op_stack": ";".join(op["name"] or "" for op in operators) if operators else None,
            "host_stack": ";".join(op["name"] or "" for op in stack) if stack else None,
            "event_id": peak["event_id"],
            "op_id": operators[-1]["event_id"] if operators else None,
            "peak_reserved_bytes": max(known(rows, "reserved"), default=None),
            "unallocated_at_peak_bytes": peak["unallocated"],
            "max_unallocated_bytes": max(known(rows, "unallocated"), default=None),
            "growth_per_step_bytes": growth(rows, marks.get(key[:2], []), only_steps),
        }
