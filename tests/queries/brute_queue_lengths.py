"""Obviously right counterparts of the queries of queue lengths, in Python.

At any point of its stream a queue holds the activities whose launch is not after it, less those
whose start is not: two counts, by bisection. Each function takes rows of the tables and gives the
rows of its query, in order.
"""

from bisect import bisect_right
from fractions import Fraction
from math import sqrt
from statistics import variance

from queries.brute_force import fraction, grouped, percentile, selected

STREAM = ("job", "rank", "device", "stream")


def streams(activities, only):
    """(key, activities with a launch) of each stream."""
    launched = [row for row in selected(activities, **only) if row["launch_id"] is not None]
    for key, rows in grouped(launched, *STREAM):
        yield dict(zip(STREAM, key, strict=True)), rows


def points(rows):
    """Those of one stream, in order."""
    # Of an instant the launches, then the lower event_id.
    launches = sorted((row["launch_start_ns"], 0, row["event_id"]) for row in rows)
    starts = sorted((row["start_ns"], 1, row["event_id"]) for row in rows)
    by_id = {row["event_id"]: row for row in rows}
    for point in sorted(launches + starts):
        at_ns, is_start, event_id = point
        row = by_id[event_id]
        yield {
            "at_ns": at_ns,
            "event_id": event_id,
            "change": -1 if is_start else 1,
            "queue_length": bisect_right(launches, point) - bisect_right(starts, point),
            "launch_id": row["launch_id"],
            "is_early_start": row["start_ns"] < row["launch_start_ns"],
        }


def queue_length_series(activities, **only):
    for key, rows in streams(activities, only):
        for point in points(rows):
            yield key | point


def queue_length_summary(activities, **only):
    for key, rows in streams(activities, only):
        of_stream = list(points(rows))
        lengths = [point["queue_length"] for point in of_stream]
        span = of_stream[-1]["at_ns"] - of_stream[0]["at_ns"]
        waits = [row["start_ns"] - row["launch_start_ns"] for row in rows]
        yield key | {
            "count": len(lengths),
            "mean": float(Fraction(sum(lengths), len(lengths))),
            "stddev": sqrt(variance(map(Fraction, lengths))),
            "min": min(lengths),
            "p25": float(percentile(lengths, 25)),
            "p50": float(percentile(lengths, 50)),
            "p75": float(percentile(lengths, 75)),
            "max": max(lengths),
            # Each activity adds one to the queue for as long as it waits.
            "time_weighted_mean": fraction(sum(waits), span),
            "early_start_count": sum(wait < 0 for wait in waits),
        }


def queue_full_time(activities, traces, max_queue_length=1024, **only):
    lengths = {
        (trace["job"], trace["rank"]): trace["end_ns"] - trace["start_ns"]
        for trace in traces
        if trace["end_ns"] is not None
    }
    for key, rows in streams(activities, only):
        launches = sorted(row["launch_start_ns"] for row in rows)
        starts = sorted(row["start_ns"] for row in rows)
        instants = sorted({*launches, *starts})
        full = sum(
            until - at
            for at, until in zip(instants, instants[1:], strict=False)
            if bisect_right(launches, at) - bisect_right(starts, at) >= max_queue_length
        )
        yield key | {
            "full_ns": full,
            "full_frac": fraction(full, lengths.get((key["job"], key["rank"]))),
        }
