"""Slow and obviously right counterparts of queries across ranks, in Python.

They take rows of gpu_activities whose collectives all have a comms_id or a seq, in groups that list
their ranks, and no trace of how the queries go about it.
"""

import json
from collections import defaultdict
from typing import Any

Row = dict[str, Any]
SIZES = {"Float": 4, "Half": 2, "Float8_e4m3fn": 1, "Weird": None}
PASSES = {"allreduce": 2, "_allgather_base": 1, "broadcast": 1, "barrier": None}


def instances(activities: list[Row]) -> dict[tuple, list[Row]]:
    """Calls by job, group, id, and how often the rank had had that id before."""
    found, seen = defaultdict(list), defaultdict(int)
    calls = [a for a in activities if a.get("collective_name") and a["kind"] == "communication"]
    has_ids = defaultdict(lambda: True)
    for a in calls:
        has_ids[group_of(a)] &= a["comms_id"] is not None
    for a in sorted(calls, key=lambda a: (a["start_ns"], a["event_id"])):
        key = (*group_of(a), a["comms_id"] if has_ids[group_of(a)] else a["seq"])
        found[*key, seen[*key, a["rank"]]].append(a)
        seen[*key, a["rank"]] += 1
    return {key: calls for key, calls in found.items() if len(calls) > 1}


def group_of(a: Row) -> tuple:
    return a["job"], a["process_group_name"], a["process_group_ranks"]


def covered(span: tuple[int, int], a: Row, activities: list[Row]) -> int:
    """Whole nanoseconds of the span in which something is computed on the call's device."""
    return sum(
        any(
            other["kind"] == "computation" and other["start_ns"] <= at < other["end_ns"]
            for other in activities
            if (other["job"], other["rank"], other["device"]) == (a["job"], a["rank"], a["device"])
        )
        for at in range(*span)
    )


def members(activities: list[Row]) -> dict[tuple, tuple]:
    """(job, rank, event_id): ids of those with it, wait, exposed wait."""
    result = {}
    for calls in instances(activities).values():
        least = min(a["end_ns"] - a["start_ns"] for a in calls)
        together = frozenset((a["rank"], a["event_id"]) for a in calls)
        for a in calls:
            wait = a["end_ns"] - a["start_ns"] - least
            hidden = covered((a["start_ns"], a["start_ns"] + wait), a, activities)
            result[a["job"], a["rank"], a["event_id"]] = together, wait, wait - hidden
    return result


def collectives(activities: list[Row]) -> dict[frozenset, tuple]:
    """Ids of the members: transfer, bytes, bus bandwidth."""
    result = {}
    for calls in instances(activities).values():
        n = len(json.loads(calls[0]["process_group_ranks"]))
        name = min(a["collective_name"] for a in calls)
        transfer = min(a["end_ns"] - a["start_ns"] for a in calls)
        size = SIZES[min(a["dtype"] for a in calls)]
        if name == "barrier" or size is None:
            message = None
        else:
            message = size * max(max(a["in_nelems"], a["out_nelems"]) for a in calls)
        factor = PASSES[name]
        if factor is not None and name != "broadcast":
            factor *= (n - 1) / n
        speed = None
        if message is not None and factor is not None and transfer:
            speed = message * factor / transfer
        key = frozenset((a["job"], a["rank"], a["event_id"]) for a in calls)
        result[key] = transfer, message, speed
    return result


def caused(activities: list[Row], last_of: dict[tuple, int]) -> dict[tuple, list[int]]:
    """(job, rank): how often last, the others' waits for it, those exposed.

    `last_of`, who was last by (job, rank, event_id) of any member, decides between equal ones only.
    """
    waits = members(activities)
    result: dict[tuple, list[int]] = defaultdict(lambda: [0, 0, 0])
    for calls in instances(activities).values():
        if any(a["collective_name"] == "broadcast" for a in calls):
            continue
        of = [waits[a["job"], a["rank"], a["event_id"]] for a in calls]
        if not any(wait for _, wait, _ in of):
            continue
        least = min(a["end_ns"] - a["start_ns"] for a in calls)
        a = calls[0]
        last = last_of[a["job"], a["rank"], a["event_id"]]
        assert last in {a["rank"] for a in calls if a["end_ns"] - a["start_ns"] == least}
        total = result[a["job"], last]
        total[0] += 1
        total[1] += sum(wait for _, wait, _ in of)
        total[2] += sum(exposed for _, _, exposed in of)
    return result
