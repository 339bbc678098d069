"""Slow and obviously right counterparts of version 2 of the queries of idle time, in Python.

Each function takes rows of the tables and gives the rows of its query, in order. They walk along
time once, so that they can follow real traces, too. What is open on a thread follows from the times
of its spans alone. Only the callers of a span are taken from the tables.
"""

import re
from bisect import bisect_right, insort
from collections import defaultdict
from fractions import Fraction

from queries.brute_force import grouped, percentile, rounded, selected
from queries.brute_idle import deviation

NOTHING = {"event_id": None, "name": None, "parent_id": None, "cat": None}
# Of PyTorch and of servers.
STEP = re.compile(r"(ProfilerStep)#\d+|(execute)_(?:\d+_)?context_\d.*")
ENTRY = re.compile(
    r"(?:.*/)?(?:runpy|threading|multiprocessing/\w+)\.py\(\d+\): "
    r"(?:_?run\w*|_bootstrap\w*|spawn_main|_main|_launch|start|Popen|__init__)|.*: <module>"
)
LOADER = re.compile(r".*torch/utils/data/dataloader\.py\(\d+\): (?:__next__|_next_data)")


def cut(rows, kernel_gap_ns, firsts):
    """(activity, start and length of its idle time, {cause: (start, length)}), in order of time.

    `firsts` has the event_id of the first activity of each launch.
    """
    until = None
    for row in sorted(rows, key=lambda row: (row["start_ns"], row["event_id"])):
        start = row["start_ns"]
        if until is not None and start > until:
            parts = {"unknown": (until, start)}
            if row["launch_id"] is not None:
                begun = returned = until
                if firsts[launch_of(row)] == row["event_id"]:
                    begun = min(max(row["launch_start_ns"], until), start)
                    returned = min(max(row["launch_end_ns"], begun), start)
                last = "kernel_wait" if start - returned < kernel_gap_ns else "queued"
                parts = {
                    "host_wait": (until, begun),
                    "launching": (begun, returned),
                    last: (returned, start),
                }
            yield (
                row,
                until,
                start - until,
                {cause: (a, b - a) for cause, (a, b) in parts.items() if b > a},
            )
        until = row["end_ns"] if until is None else max(until, row["end_ns"])


def launch_of(row):
    return row["job"], row["rank"], row["launch_id"]


def firsts_of(rows):
    launches = defaultdict(list)
    for row in rows:
        launches[launch_of(row)].append((row["start_ns"], row["event_id"]))
    return {launch: min(times)[1] for launch, times in launches.items()}


def busy_stretches(rows):
    """The times in which any of the activities runs, in order."""
    merged = []
    for start, end in sorted((row["start_ns"], row["end_ns"]) for row in rows):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged


def overlap(stretches, start, length):
    """How much of a time lies in stretches."""
    at = max(0, bisect_right(stretches, [start]) - 1)
    found = 0
    while at < len(stretches) and stretches[at][0] < start + length:
        found += max(0, min(stretches[at][1], start + length) - max(stretches[at][0], start))
        at += 1
    return found


def idle_time_breakdown(activities, ops, kernel_gap_ns=30000, **only):
    rows = selected(activities, **only)
    firsts = firsts_of(rows)
    busy = {key: busy_stretches(group) for key, group in grouped(rows, "job", "rank", "device")}
    for key, group in grouped(rows, "job", "rank", "device", "stream"):
        causes = defaultdict(list)
        for *_, parts in cut(group, kernel_gap_ns, firsts):
            for cause, (start, length) in parts.items():
                waited = overlap(busy[key[:3]], start, length) if cause == "queued" else 0
                for name, time in (("dependency", waited), (cause, length - waited)):
                    if time:
                        causes[name].append(time)
        of_stream = sum(map(sum, causes.values()))
        for cause, times in sorted(causes.items(), key=lambda item: (-sum(item[1]), item[0])):
            yield dict(zip(("job", "rank", "device", "stream"), key, strict=True)) | {
                "cause": cause,
                "gap_count": len(times),
                "idle_ns": sum(times),
                "idle_frac": sum(times) / of_stream,
                "mean_ns": rounded(Fraction(sum(times), len(times))),
                "min_ns": min(times),
                "p50_ns": rounded(percentile(times, 50)),
                "p95_ns": rounded(percentile(times, 95)),
                "max_ns": max(times),
                "stddev_ns": deviation(times),
            }


class Thread:
    """What is innermost on a thread: since when which span, from its first span to its last."""

    def __init__(self, ops) -> None:
        self.since, self.spans = [], []
        changes = defaultdict(list)
        for op in ops:
            if op["end_ns"] > op["start_ns"]:
                changes[op["start_ns"]].append((True, op))
                changes[op["end_ns"]].append((False, op))
        began_last = []
        for at in sorted(changes):
            for begins, op in changes[at]:
                key = op["start_ns"], -op["end_ns"], op["event_id"]
                if begins:
                    insort(began_last, (key, op))
                else:
                    del began_last[bisect_right(began_last, key, key=lambda pair: pair[0]) - 1]
            self.since.append(at)
            self.spans.append(began_last[-1][1] if began_last else NOTHING)

    def during(self, start, length):
        """(innermost span, for how long) within a time."""
        at, now, end = bisect_right(self.since, start) - 1, start, start + length
        while now < end:
            until = self.since[at + 1] if at + 1 < len(self.since) else end
            yield self.spans[at] if at >= 0 else NOTHING, min(until, end) - now
            now, at = min(until, end), at + 1


class Host:
    """The threads of all ranks, and the callers of their spans."""

    def __init__(self, ops, activities) -> None:
        of_threads, self.steps = defaultdict(list), defaultdict(list)
        self.by_id, self.times = {}, {}
        for op in ops:
            of_threads[self.key(op)].append(op)
            self.by_id[op["job"], op["rank"], op["event_id"]] = op
            if self.is_step(op):
                self.steps[self.key(op)].append(op)
        for key, rows in grouped(activities, "job", "rank"):
            self.times[key] = (
                min(row["start_ns"] for row in rows),
                max(row["end_ns"] for row in rows),
            )
        self.threads = {key: Thread(group) for key, group in of_threads.items()}
        self.outermost = {}

    @staticmethod
    def key(op):
        return op["job"], op["rank"], op["pid"], op["tid"]

    @staticmethod
    def is_step(op):
        return bool(STEP.fullmatch(op["name"])) and op["cat"] != "python_function"

    def during(self, row, start, length):
        """What the thread that launched an activity had open."""
        key = row["job"], row["rank"], row["launch_pid"], row["launch_tid"]
        if row["launch_id"] is None or key not in self.threads:
            return [(NOTHING, length)]
        return self.threads[key].during(start, length)

    def says_nothing(self, op):
        """Whether a span is a step, calls one, is open all the time or is one of Python's own."""
        if op["cat"] != "python_function":
            return self.is_step(op)
        first, last = self.times[op["job"], op["rank"]]
        return (
            bool(ENTRY.fullmatch(op["name"]))
            or (op["start_ns"] <= first and op["end_ns"] >= last)
            or any(
                op["start_ns"] <= step["start_ns"] and step["end_ns"] <= op["end_ns"]
                for step in self.steps[self.key(op)]
            )
        )

    def outer(self, op):
        """The outermost caller of a span, or itself, that says something."""
        if op is NOTHING:
            return NOTHING
        at = op["job"], op["rank"], op["event_id"]
        if at not in self.outermost:
            caller = self.by_id.get((*at[:2], op["parent_id"]), NOTHING)
            found = self.outer(caller)
            if found is NOTHING and not self.says_nothing(op):
                found = op
            self.outermost[at] = found
        return self.outermost[at]


def device_parts(activities, kernel_gap_ns, **only):
    rows = selected(activities, **only)
    firsts = firsts_of(rows)
    for key, group in grouped(rows, "job", "rank", "device"):
        for row, since, gap, parts in cut(group, kernel_gap_ns, firsts):
            for cause, (start, length) in parts.items():
                yield key, row, since, gap, cause, start, length


def idle_gaps(activities, ops, min_gap_ns=0, kernel_gap_ns=30000, **only):
    host = Host(ops, activities)
    for key, row, since, gap, cause, start, length in device_parts(
        activities, kernel_gap_ns, **only
    ):
        if gap < min_gap_ns:
            continue
        times, spans = defaultdict(int), {}
        for op, time in host.during(row, start, length):
            times[op["event_id"]] += time
            spans[op["event_id"]] = op
        most = spans[min(times, key=lambda at: (-times[at], -1 if at is None else at))]
        yield dict(zip(("job", "rank", "device"), key, strict=True)) | {
            "start_ns": since,
            "part_start_ns": start,
            "part_ns": length,
            "whole_gap_ns": gap,
            "cause": cause,
            "next_event_id": row["event_id"],
            "next_name": row["name"],
            "host_event_id": most["event_id"],
            "host_name": most["name"],
            "stream": row["stream"],
            "step": row["step"],
        }


def shown(op):
    match = op["name"] and STEP.fullmatch(op["name"])
    if match:
        return match[1] or match[2]
    # SGLang's, which marks no step beside the others.
    return re.sub(r"^step\[([A-Z_]+) .*\]$", r"step[\1]", op["name"]) if op["name"] else None


def idle_reasons(activities, ops, top_k=None, kernel_gap_ns=30000, **only):
    host = Host(ops, activities)
    devices = defaultdict(lambda: defaultdict(lambda: defaultdict(int)))
    for key, row, *_, cause, start, length in device_parts(activities, kernel_gap_ns, **only):
        for op, time in host.during(row, start, length):
            reason = cause, shown(op), shown(host.outer(op))
            devices[key][reason][row["event_id"]] += time
    for key, reasons in devices.items():
        of_device = sum(sum(gaps.values()) for gaps in reasons.values())
        in_order = sorted(
            reasons.items(),
            key=lambda item: (-sum(item[1].values()), *((v is None, v) for v in item[0])),
        )
        for (cause, name, outer_name), gaps in in_order[:top_k]:
            yield dict(zip(("job", "rank", "device"), key, strict=True)) | {
                "cause": cause,
                "name": name,
                "outer_name": outer_name,
                "idle_ns": sum(gaps.values()),
                "idle_frac": sum(gaps.values()) / of_device,
                "gap_count": len(gaps),
                "longest_ns": max(gaps.values()),
            }
