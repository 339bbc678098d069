"""Slow and obviously right counterparts of annotation_stats and annotated_kernels in Python.

Each function takes rows of gpu_activities, host_ops and events, and gives the rows of its query, in
order. They also serve for real traces, so that time is not a set of instants here.
"""

from collections import defaultdict
from fractions import Fraction
from math import isqrt
from statistics import variance

from queries.brute_force import grouped, rounded, selected


def rounded_root(value: Fraction) -> int:
    """The root to whole numbers, halves up."""
    return (isqrt(int(4 * value)) + 1) // 2


def covered(rows) -> int:
    """Time with one of these rows or more."""
    total, until = 0, None
    for start_ns, end_ns in sorted((row["start_ns"], row["end_ns"]) for row in rows):
        if until is None or start_ns > until:
            until = start_ns
        if end_ns > until:
            total += end_ns - until
            until = end_ns
    return total


def host_annotations(ops) -> dict:
    return {
        (row["job"], row["rank"], row["event_id"]): row
        for row in ops
        if row["cat"] == "user_annotation"
    }


def with_all_around(annotations, job, rank, event_id) -> list[dict]:
    """A host annotation and all that are around it, outermost first; nothing of no annotation."""
    found = []
    while event_id is not None:
        found.insert(0, annotations[job, rank, event_id])
        event_id = found[0]["annotation_id"]
    return found


def gpu_annotations(events) -> list[dict]:
    return [row for row in events if (row["cat"], row["ph"]) == ("gpu_user_annotation", "X")]


def number(text: str | None) -> int | None:
    try:
        return int(text)
    except (TypeError, ValueError):
        return None


def place(event) -> tuple:
    device, stream = event["device"], event["stream"]
    return (
        event["job"],
        event["rank"],
        number(event["pid"]) if device is None else device,
        number(event["tid"]) if stream is None else stream,
    )


def annotation_stats(
    activities, ops, events, source="gpu", name_contains=None, only_steps=None, **only
):
    hosts = host_annotations(ops)
    if source == "host":
        rows = selected(hosts.values(), only_steps=only_steps, **only)
    else:
        rows = selected(gpu_annotations(events), **only)
        if only_steps is not None:
            origins = {
                (host["job"], host["rank"], host["external_id"])
                for host in hosts.values()
                if host["external_id"] is not None and host["step"] in only_steps
            }
            rows = [row for row in rows if (row["job"], row["rank"], row["external_id"]) in origins]
    if name_contains is not None:
        rows = [row for row in rows if name_contains in row["name"]]

    measured = {(row["job"], row["rank"], row["event_id"]) for row in rows}
    launched = defaultdict(list)  # by job, rank and name; a row twice does no harm in a union
    for row in selected(activities, only_steps=only_steps, **only):
        key = row["job"], row["rank"]
        for host in with_all_around(hosts, *key, row["annotation_id"]):
            if (*key, host["event_id"]) in measured:
                launched[*key, host["name"]].append(row)

    result = []
    for key, calls in grouped(rows, "job", "rank", "name"):
        times = [row["dur_ns"] for row in calls]
        result.append(
            dict(zip(("job", "rank", "name"), key, strict=True))
            | {
                "count": len(times),
                "total_ns": sum(times),
                "mean_ns": rounded(Fraction(sum(times), len(times))),
                "min_ns": min(times),
                "max_ns": max(times),
                "stddev_ns": rounded_root(variance(map(Fraction, times))) if len(times) > 1 else 0,
                "gpu_busy_ns": covered(launched[key]) if source == "host" else None,
            }
        )
    return sorted(result, key=lambda row: (row["job"], row["rank"], -row["total_ns"], row["name"]))


def over(annotation, row) -> bool:
    """Whether a GPU annotation contains a row of its stream."""
    begins_in_it = annotation["start_ns"] <= row["start_ns"] < annotation["end_ns"]
    return begins_in_it and row["end_ns"] <= annotation["end_ns"]


def from_outer_to_inner(annotation) -> tuple:
    return annotation["start_ns"], -annotation["end_ns"], annotation["event_id"]


def over_on_stream(by_place, row) -> list[dict]:
    """The GPU annotations over an activity's innermost one, and that one, outermost first."""
    same_stream = by_place[row["job"], row["rank"], row["device"], row["stream"]]
    around = [annotation for annotation in same_stream if over(annotation, row)]
    if not around:
        return []
    innermost = max(around, key=from_outer_to_inner)
    return sorted(
        (annotation for annotation in same_stream if over(annotation, innermost)),
        key=from_outer_to_inner,
    )


def annotated_kernels(activities, ops, events, name_contains=None, **only):
    hosts = host_annotations(ops)
    by_place = defaultdict(list)
    for row in gpu_annotations(events):
        by_place[place(row)].append(row)
    rows = [
        row
        for row in selected(activities, **only)
        if name_contains is None or name_contains in row["name"]
    ]
    for row in sorted(rows, key=lambda row: (row["job"], row["rank"], row["event_id"])):
        path = with_all_around(hosts, row["job"], row["rank"], row["annotation_id"])
        source = "host" if path else None
        if not path:
            path = over_on_stream(by_place, row)
            source = "gpu" if path else None
        columns = (
            "job",
            "rank",
            "event_id",
            "device",
            "stream",
            "kind",
            "name",
            "start_ns",
            "dur_ns",
            "step",
        )
        yield {column: row[column] for column in columns} | {
            "annotation": path[-1]["name"] if path else None,
            "annotation_path": ";".join(one["name"] for one in path) if path else None,
            "annotation_source": source,
        }
