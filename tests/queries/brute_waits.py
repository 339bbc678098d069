"""Slow and obviously right counterpart of sync_points.

Which names are those of calls that wait is for the caller to say, by two sets of names. What is
around what is asked of the spans themselves, time by time, but for the operators, whose chain the
tables have.
"""

from bisect import bisect_right
from collections import defaultdict

from queries.brute_force import grouped, selected


class Union:
    """The union of intervals, to be asked how much of it lies before an instant."""

    def __init__(self, spans) -> None:
        merged: list[list[int]] = []
        for start, end in sorted(spans):
            if merged and start <= merged[-1][1]:
                merged[-1][1] = max(merged[-1][1], end)
            else:
                merged.append([start, end])
        self.spans = merged
        self.starts = [start for start, _ in merged]
        self.before = [0]
        for start, end in merged:
            self.before.append(self.before[-1] + end - start)

    def until(self, at: int) -> int:
        """How much of it lies before an instant."""
        begun = bisect_right(self.starts, at)
        ahead = max(0, self.spans[begun - 1][1] - at) if begun else 0
        return self.before[begun] - ahead

    def within(self, start: int, end: int):
        """Its parts in an interval."""
        first = max(0, bisect_right(self.starts, start) - 1)
        for begin, stop in self.spans[first:]:
            if begin >= end:
                return
            if stop > start:
                yield max(begin, start), min(stop, end)


def is_call(op) -> bool:
    cat = op["cat"] or ""
    return cat == "Runtime" or cat.endswith(("_runtime", "_driver"))


def is_op(op) -> bool:
    return op["cat"] in ("cpu_op", "Operator")


def direction(name) -> str:
    """Between which memories: where not said, only that it copies."""
    if name is not None:
        for way in ("DtoH", "HtoD", "DtoD", "PtoP"):
            if way in name:
                return way
        if name == "CopyDeviceToHost":
            return "DtoH"
        if name.startswith("Memset"):
            return "set"
    return "copy"


def blocking_copies(calls, activities, synchronous):
    """Ids of the calls of a rank that copy and kept the host waiting."""
    launched = defaultdict(list)
    for row in activities:
        if row["launch_id"] is not None:
            launched[row["launch_id"]].append(row)
    of_place = defaultdict(list)
    for call in calls:
        of_place[call["pid"], call["tid"], call["op_id"]].append(call)
    for call in calls:
        rows = launched[call["event_id"]]
        ways = [direction(row["name"]) if row["kind"] == "memory" else None for row in rows]
        only_copies = bool(rows) and not set(ways) & {None, "set"}
        by_name = call["name"] in synchronous
        blocks = by_name and not only_copies
        for row, way in zip(rows, ways, strict=True) if only_copies else ():
            returned_late = row["launch_end_ns"] >= row["end_ns"]
            if row["launch_name"] in synchronous:
                blocks |= returned_late or way not in ("DtoD", "PtoP")
            elif way == "DtoH":
                pinned = "Pinned" in row["name"]
                blocks |= "Pageable" in row["name"] or (returned_late and not pinned)
        if only_copies and "DtoH" in ways and not blocks:
            beside = of_place[call["pid"], call["tid"], call["op_id"]]
            blocks = bool(is_followed_by_a_wait(call, beside))
        if blocks:
            yield call["event_id"]


def is_followed_by_a_wait(call, beside) -> bool:
    """Whether the next call of its operator on its thread, inside no other, waits."""
    until, outermost = None, []
    for other in sorted(beside, key=lambda o: (o["start_ns"], -o["end_ns"], o["event_id"])):
        if until is None or other["start_ns"] >= until:
            outermost.append(other)
        until = other["end_ns"] if until is None else max(until, other["end_ns"])
    for one, following in zip(outermost, outermost[1:], strict=False):
        if one is call:
            return following["waits"]
    return False


def self_times(points):
    """Of each point of a thread the time in which it is the innermost on the stack."""
    bounds = sorted({at for p in points for at in (p["start_ns"], p["stack_end_ns"])})
    waiting = sorted(points, key=lambda p: p["start_ns"], reverse=True)
    times, begun = defaultdict(int), []
    for at, until in zip(bounds, bounds[1:], strict=False):
        while waiting and waiting[-1]["start_ns"] <= at:
            begun.append(waiting.pop())
        begun = [p for p in begun if p["stack_end_ns"] > at]
        if begun:
            innermost = max(begun, key=lambda p: (p["start_ns"], -p["end_ns"], p["event_id"]))
            times[innermost["event_id"]] += until - at
    return times


def points_of_rank(activities, ops, waits, synchronous, only_steps):
    by_id = {op["event_id"]: op for op in ops}
    calls = [op | {"waits": op["name"] in waits} for op in ops if is_call(op)]
    copies = set(blocking_copies(calls, activities, synchronous))
    points, around = [], set()
    for call in selected(calls, only_steps=only_steps):
        if call["waits"] or call["event_id"] in copies:
            points.append(call | {"kind": "wait" if call["waits"] else "copy"})
            outer = call["op_id"]
            while outer is not None and outer not in around:
                around.add(outer)
                outer = by_id[outer]["op_id"]
    for op in selected([by_id[one] for one in around], only_steps=only_steps):
        if (op["name"] or "").startswith("aten::"):
            points.append(op | {"kind": "operator"})
    busy = Union((row["start_ns"], row["end_ns"]) for row in activities)
    for _, thread in grouped(points, "pid", "tid"):
        for point in thread:
            cut = point.get("cut_ns")
            point["stack_end_ns"] = point["end_ns"] if cut is None else cut
        waited = Union((p["start_ns"], p["end_ns"]) for p in thread if p["kind"] != "operator")
        alone = self_times(thread)
        for point in thread:
            parts = list(waited.within(point["start_ns"], point["end_ns"]))
            caller = by_id.get(point["op_id"])
            yield point | {
                "self_ns": alone[point["event_id"]],
                "wait_ns": sum(end - start for start, end in parts),
                "gpu_busy_ns": sum(busy.until(end) - busy.until(start) for start, end in parts),
                "caller": caller and caller["name"],
            }


def sync_points(activities, ops, waits, synchronous, only_steps=None, **only):
    of_rank = defaultdict(list)
    for row in selected(activities, **only):
        of_rank[row["job"], row["rank"]].append(row)
    rows = []
    for (job, rank), group in grouped(selected(ops, **only), "job", "rank"):
        points = list(points_of_rank(of_rank[job, rank], group, waits, synchronous, only_steps))
        for (name,), calls in grouped(points, "name"):
            callers = defaultdict(list)
            for call in calls:
                if call["caller"] is not None:
                    callers[call["caller"]].append(call["dur_ns"])
            first = min(
                callers,
                key=lambda name: (-sum(callers[name]), -len(callers[name]), name),
                default=None,
            )
            longest = min(calls, key=lambda call: (-call["dur_ns"], call["event_id"]))
            kinds = {call["kind"] for call in calls}
            rows.append(
                {
                    "job": job,
                    "rank": rank,
                    "name": name,
                    "kind": "operator" if "operator" in kinds else min(kinds),
                    "count": len(calls),
                    "host_ns": sum(call["dur_ns"] for call in calls),
                    "self_ns": sum(call["self_ns"] for call in calls),
                    "wait_ns": sum(call["wait_ns"] for call in calls),
                    "gpu_busy_ns": sum(call["gpu_busy_ns"] for call in calls),
                    "max_ns": longest["dur_ns"],
                    "caller": first,
                    "caller_ns": None if first is None else sum(callers[first]),
                    "caller_count": len(callers),
                    "example_event_id": longest["event_id"],
                }
            )
    return sorted(
        rows,
        key=lambda row: (
            row["job"],
            row["rank"],
            -row["wait_ns"],
            -row["host_ns"],
            row["name"] is None,
            row["name"] or "",
        ),
    )
