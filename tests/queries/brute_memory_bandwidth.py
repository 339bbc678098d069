"""Slow and obviously right counterparts of the queries of copies, in exact numbers.

Rows are those of the tables; the result is what the query gives, in its order.
"""

import math
from collections import defaultdict
from fractions import Fraction
from statistics import variance

from queries.brute_force import grouped, percentile, selected

GRAIN = ("job", "rank", "device", "copy_kind")
WAYS = {
    "CopyHostToHost": "HtoH",
    "CopyHostToDevice": "HtoD",
    "CopyDeviceToHost": "DtoH",
    "CopyDeviceToDevice": "DtoD",
    "hipMemcpyHtoD": "HtoD",
    "hipMemcpyDtoH": "DtoH",
    "hipMemcpyDtoD": "DtoD",
    "zeCommandListAppendMemoryCopy(M2D)": "HtoD",
    "zeCommandListAppendMemoryCopy(H2D)": "HtoD",
    "zeCommandListAppendMemoryCopy(D2M)": "DtoH",
    "zeCommandListAppendMemoryCopy(D2D)": "DtoD",
}
MEMSETS = (
    "Memset",
    "hipMemset",
    "__amd_rocclr_fillBuffer",
    "FillBuffer",
    "zeCommandListAppendMemoryFill",
)


def copy_kind(name: str) -> str:
    if name.startswith(MEMSETS):
        return "Memset"
    if name.startswith("Memcpy ") and name[7].isalnum():
        return "Memcpy " + name.split()[1]
    return "Memcpy " + next(
        (way for begin, way in WAYS.items() if name.startswith(begin)), "Unknown"
    )


def usable(value) -> bool:
    return value is not None and math.isfinite(value) and 0 <= value < 1e9


def bandwidth(row) -> Fraction | None:
    """In GB/s, to 1e-15; None where nothing tells, and of what took no time."""
    if row["dur_ns"] == 0:
        return None
    if usable(row["bandwidth_gbps"]):
        value = Fraction(row["bandwidth_gbps"])
    elif row["bytes"] is not None and usable(row["bytes"] / row["dur_ns"]):
        value = Fraction(row["bytes"], row["dur_ns"])
    else:
        return None
    return Fraction(round(value * 10**15), 10**15)


def copies(activities, **only):
    """The copies by grain, in order."""
    return grouped(
        [
            row | {"copy_kind": copy_kind(row["name"])}
            for row in selected(activities, **only)
            if row["kind"] == "memory"
        ],
        *GRAIN,
    )


def points(rows) -> list[tuple[int, Fraction]]:
    """Each instant at which a copy begins or ends with what runs from it on."""
    changes = defaultdict(Fraction)
    for row in rows:
        value = bandwidth(row)
        if value is not None:
            changes[row["start_ns"]] += value
            changes[row["end_ns"]] -= value
    found, running = [], Fraction(0)
    for at, change in sorted(changes.items()):
        running += change
        found.append((at, running))
    return found


def time_of(rows) -> int:
    """Length of the union."""
    total, until = 0, None
    for start, end in sorted((row["start_ns"], row["end_ns"]) for row in rows):
        if until is None or end > until:
            total += end - (start if until is None else max(start, until))
            until = end
    return total


def memory_bandwidth_series(activities, **only):
    for key, rows in copies(activities, **only):
        for at, value in points(rows):
            yield dict(zip(GRAIN, key, strict=True)) | {"at_ns": at, "bandwidth_gbps": float(value)}


def memory_bandwidth_summary(activities, **only):
    for key, rows in copies(activities, **only):
        above = [value for _, value in points(rows) if value > 0]
        told = [row["bytes"] for row in rows if row["bytes"] is not None]
        yield dict(zip(GRAIN, key, strict=True)) | {
            "count": len(above),
            "mean": float(sum(above) / len(above)) if above else None,
            "stddev": (math.sqrt(variance(above)) if len(above) > 1 else 0.0) if above else None,
            "min": float(min(above)) if above else None,
            "p25": float(percentile(above, 25)) if above else None,
            "p50": float(percentile(above, 50)) if above else None,
            "p75": float(percentile(above, 75)) if above else None,
            "max": float(max(above)) if above else None,
            "bytes": sum(told) if told else None,
            "copy_count": len(rows),
            "time_ns": time_of(rows),
        }
