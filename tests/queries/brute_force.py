"""Slow and obviously right counterparts of the queries in Python.

Time is a set of instants here: an activity occupies every whole nanosecond from its start up to,
not including, its end. Each function takes rows of the tables and gives the rows of its query, in
order.
"""

from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction
from itertools import count
from statistics import median, variance

KINDS = ("communication", "computation", "memory")


def selected(rows, only_jobs=None, only_ranks=None, only_steps=None):
    return [
        row
        for row in rows
        if (only_jobs is None or row["job"] in only_jobs)
        and (only_ranks is None or row["rank"] in only_ranks)
        and (only_steps is None or row["step"] in only_steps)
    ]


def grouped(rows, *columns):
    """(values of the columns, rows) in the order of a result: NULL last."""
    groups = defaultdict(list)
    for row in rows:
        groups[tuple(row[column] for column in columns)].append(row)
    return sorted(groups.items(), key=lambda group: [(v is None, v) for v in group[0]])


def instants(rows, *kinds) -> set[int]:
    """When an activity of these kinds runs; of any kind unless told."""
    return {
        at
        for row in rows
        if not kinds or row["kind"] in kinds
        for at in range(row["start_ns"], row["end_ns"])
    }


def span(rows) -> int:
    return max(row["end_ns"] for row in rows) - min(row["start_ns"] for row in rows)


def fraction(part, whole):
    return part / whole if whole else None


def rounded(value) -> int:
    """To whole numbers, halves up."""
    return int(value + Fraction(1, 2))


def rounded_root(value: Fraction) -> int:
    """The root to whole numbers, halves up: the first k with root < k + 1/2."""
    return next(k for k in count() if value < (k + Fraction(1, 2)) ** 2)


def breakdown(rows, *grain):
    for key, group in grouped(rows, *grain):
        compute, memory = instants(group, "computation"), instants(group, "memory")
        communication, busy = instants(group, "communication"), instants(group)
        idle = span(group) - len(busy)
        yield dict(zip(grain, key, strict=True)) | {
            "span_ns": span(group),
            "busy_ns": len(busy),
            "idle_ns": idle,
            "compute_ns": len(compute),
            "non_compute_ns": len(busy - compute),
            "communication_ns": len(communication),
            "memory_ns": len(memory),
            "exposed_communication_ns": len(communication - compute),
            "exposed_memory_ns": len(memory - compute - communication),
            "idle_frac": fraction(idle, span(group)),
            "compute_frac": fraction(len(compute), span(group)),
            "non_compute_frac": fraction(len(busy - compute), span(group)),
        }


def temporal_breakdown(activities, ops, **only):
    yield from breakdown(selected(activities, **only), "job", "rank", "device")


def step_breakdown(activities, ops, **only):
    in_steps = [row for row in selected(activities, **only) if row["step"] is not None]
    yield from breakdown(in_steps, "job", "rank", "device", "step")


def comm_comp_overlap(activities, ops, **only):
    for (job, rank, device), group in grouped(
        selected(activities, **only), "job", "rank", "device"
    ):
        communication = instants(group, "communication")
        overlap = communication & instants(group, "computation")
        yield {
            "job": job,
            "rank": rank,
            "device": device,
            "communication_ns": len(communication),
            "overlap_ns": len(overlap),
            "overlap_frac": fraction(len(overlap), len(communication)),
        }


def kernel_kind_breakdown(activities, ops, **only):
    for (job, rank, device), group in grouped(
        selected(activities, **only), "job", "rank", "device"
    ):
        by_kind = {kind: instants(group, kind) for kind in KINDS}
        busy = instants(group)
        times = defaultdict(int)
        for at in busy:
            times["+".join(kind for kind in KINDS if at in by_kind[kind])] += 1
        for kinds, time in sorted(times.items(), key=lambda item: (-item[1], item[0])):
            yield {
                "job": job,
                "rank": rank,
                "device": device,
                "kinds": kinds,
                "time_ns": time,
                "time_frac": time / len(busy),
            }


def named(activities, top_k, name_contains, short_names, grain):
    """The rows with their names as shown, and (name, position) of each; `others` for the rest."""
    rows = [
        row | {"name": row["short_name"] if short_names else row["name"]}
        for row in activities
        if name_contains is None or name_contains in row["name"]
    ]
    for _, of_kind in grouped(rows, *grain):
        totals = defaultdict(int)
        for row in of_kind:
            totals[row["name"]] += row["dur_ns"]
        in_order = sorted(totals, key=lambda name: (-totals[name], name))
        for row in of_kind:
            row["position"] = in_order.index(row["name"]) + 1
            if top_k is not None and row["position"] > top_k:
                row |= {"name": "others", "position": top_k + 1}
    return rows


def percentile(values: Iterable[int], percent: int) -> Fraction:
    """Linear between neighbours, of which the first is at 0 percent, the last at 100."""
    values = sorted(values)
    place = Fraction(percent * (len(values) - 1), 100)
    below = values[int(place)]
    above = values[min(int(place) + 1, len(values) - 1)]
    return below + (above - below) * (place - int(place))


def kernel_stats(activities, ops, top_k=None, name_contains=None, short_names=False, **only):
    kind = "job", "rank", "kind"
    rows = named(selected(activities, **only), top_k, name_contains, short_names, kind)
    of_kind = {key: sum(row["dur_ns"] for row in group) for key, group in grouped(rows, *kind)}
    for key, calls in grouped(rows, *kind, "position", "name"):
        times = [row["dur_ns"] for row in calls]
        *kind_key, position, name = key
        yield dict(zip(kind, kind_key, strict=True)) | {
            "name": name,
            "count": len(times),
            "total_ns": sum(times),
            "mean_ns": rounded(Fraction(sum(times), len(times))),
            "min_ns": min(times),
            "p50_ns": rounded(median([Fraction(time) for time in times])),
            "p95_ns": rounded(percentile(times, 95)),
            "max_ns": max(times),
            "stddev_ns": rounded_root(variance(map(Fraction, times))) if len(times) > 1 else 0,
            "total_frac": fraction(sum(times), of_kind[tuple(kind_key)]),
            "position": position,
        }


def kernel_distribution(activities, ops, top_k=None, name_contains=None, short_names=False, **only):
    rows = named(selected(activities, **only), top_k, name_contains, short_names, ("job", "kind"))
    for (job, kind, position, name), calls in grouped(rows, "job", "kind", "position", "name"):
        times = [row["dur_ns"] for row in calls]
        means = {
            rank: Fraction(sum(row["dur_ns"] for row in group), len(group))
            for (rank,), group in grouped(calls, "rank")
        }
        slowest = min(means, key=lambda rank: (-means[rank], rank))
        fastest = min(means, key=lambda rank: (means[rank], rank))
        mean_of_means = sum(means.values()) / len(means)
        yield {
            "job": job,
            "kind": kind,
            "name": name,
            "rank_count": len(means),
            "count": len(times),
            "total_ns": sum(times),
            "mean_ns": rounded(Fraction(sum(times), len(times))),
            "slowest_rank": slowest,
            "slowest_mean_ns": rounded(means[slowest]),
            "fastest_rank": fastest,
            "fastest_mean_ns": rounded(means[fastest]),
            "min_ns": min(times),
            "max_ns": max(times),
            "imbalance": float(means[slowest] / mean_of_means) if mean_of_means else None,
            "position": position,
        }


def profiler_steps(activities, ops, **only):
    marks = [
        row | {"step": int(row["name"].partition("#")[2])}
        for row in ops
        if row["name"].startswith("ProfilerStep#") and row["cat"] != "python_function"
    ]
    for (job, rank, step), group in grouped(selected(marks, **only), "job", "rank", "step"):

        def of_step(rows, key=(job, rank, step)):
            return [row for row in rows if (row["job"], row["rank"], row["step"]) == key]

        launched = of_step(activities)
        yield {
            "job": job,
            "rank": rank,
            "step": step,
            "start_ns": min(row["start_ns"] for row in group),
            "dur_ns": span(group),
            "gpu_busy_ns": len(instants(launched)),
            "gpu_span_ns": span(launched) if launched else 0,
            "kernel_count": len(launched),
            "op_count": sum(row["cat"] in ("cpu_op", "Operator") for row in of_step(ops)),
            "step_name": min(group, key=lambda row: (row["start_ns"], row["event_id"]))["name"],
            "marked_by": "PyTorch",
        }
