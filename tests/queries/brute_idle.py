"""Slow and obviously right counterparts of idle_time_breakdown and idle_gaps in Python.

Each function takes rows of the tables and gives the rows of its query, in order. They walk along
time once, so that they can follow real traces, too. The innermost operation is looked for among
those that are open, without what the tables say of call stacks.
"""

from collections import defaultdict
from fractions import Fraction
from math import isqrt

from queries.brute_force import grouped, percentile, rounded, selected


def idle_times(rows, kernel_gap_ns):
    """(activity, start of the idle time that it ends, its length, cause), in order of time."""
    until = None
    for row in sorted(rows, key=lambda row: (row["start_ns"], row["event_id"])):
        if until is not None and row["start_ns"] > until:
            gap = row["start_ns"] - until
            launched = row["launch_start_ns"]
            late = launched is not None and launched > until
            in_time = "kernel_wait" if gap < kernel_gap_ns else "other"
            yield row, until, gap, "host_wait" if late else in_time
        until = row["end_ns"] if until is None else max(until, row["end_ns"])


def deviation(values: list[int]) -> int:
    """Of a sample, to whole numbers, halves up; 0 for one."""
    n = len(values)
    if n == 1:
        return 0
    variance = Fraction(n * sum(v * v for v in values) - sum(values) ** 2, n * (n - 1))
    root = isqrt(int(variance))
    return root + (variance >= (root + Fraction(1, 2)) ** 2)


def idle_time_breakdown(activities, ops, kernel_gap_ns=30000, **only):
    streams = grouped(selected(activities, **only), "job", "rank", "device", "stream")
    for key, group in streams:
        causes = defaultdict(list)
        for _, _, gap, cause in idle_times(group, kernel_gap_ns):
            causes[cause].append(gap)
        of_stream = sum(map(sum, causes.values()))
        for cause, gaps in sorted(causes.items(), key=lambda item: (-sum(item[1]), item[0])):
            yield dict(zip(("job", "rank", "device", "stream"), key, strict=True)) | {
                "cause": cause,
                "gap_count": len(gaps),
                "idle_ns": sum(gaps),
                "idle_frac": sum(gaps) / of_stream,
                "mean_ns": rounded(Fraction(sum(gaps), len(gaps))),
                "min_ns": min(gaps),
                "p50_ns": rounded(percentile(gaps, 50)),
                "p95_ns": rounded(percentile(gaps, 95)),
                "max_ns": max(gaps),
                "stddev_ns": deviation(gaps),
            }


class Thread:
    """What a thread has open; to be asked for later and later instants."""

    def __init__(self, ops) -> None:
        self.waiting = sorted(ops, key=lambda op: op["start_ns"], reverse=True)
        self.open = []

    def innermost(self, at_ns):
        """What began last; of equal starts the shortest, and then what has the higher id."""
        while self.waiting and self.waiting[-1]["start_ns"] <= at_ns:
            self.open.append(self.waiting.pop())
        self.open = [op for op in self.open if at_ns < op["end_ns"]]
        return max(
            self.open,
            key=lambda op: (op["start_ns"], -op["end_ns"], op["event_id"]),
            default={"event_id": None, "name": None},
        )


def idle_gaps(activities, ops, min_gap_ns=0, kernel_gap_ns=30000, **only):
    of_thread = defaultdict(list)
    for op in ops:
        of_thread[op["job"], op["rank"], op["pid"], op["tid"]].append(op)
    for (job, rank, device), group in grouped(
        selected(activities, **only), "job", "rank", "device"
    ):
        threads = {}
        for row, since, gap, cause in idle_times(group, kernel_gap_ns):
            if gap < min_gap_ns:
                continue
            doing = {"event_id": None, "name": None}
            if row["launch_id"] is not None:
                at = job, rank, row["launch_pid"], row["launch_tid"]
                if at not in threads:
                    threads[at] = Thread(of_thread[at])
                doing = threads[at].innermost(since + gap // 2)
            yield {
                "job": job,
                "rank": rank,
                "device": device,
                "start_ns": since,
                "gap_ns": gap,
                "cause": cause,
                "next_event_id": row["event_id"],
                "next_name": row["name"],
                "host_event_id": doing["event_id"],
                "host_name": doing["name"],
                "stream": row["stream"],
                "step": row["step"],
            }
