"""What queries say, from rows as RawTrace.activities gives them."""

from collections import defaultdict

from raw_json import RawTrace

KINDS = ("communication", "computation", "memory")  # in alphabetical order


# What the queries say, from rows as RawTrace.activities gives them.


def stretches(rows: list[dict]):
    """(set of kinds, ns) from each instant at which something changes to the next."""
    changes: dict[int, list[tuple[str, int]]] = defaultdict(list)
    for row in rows:
        changes[row["start_ns"]].append((row["kind"], 1))
        changes[row["end_ns"]].append((row["kind"], -1))
    running = dict.fromkeys(KINDS, 0)
    instants = sorted(changes)
    for at, until in zip(instants, instants[1:], strict=False):
        for kind, change in changes[at]:
            running[kind] += change
        yield {kind for kind in KINDS if running[kind]}, until - at


def time_with(rows: list[dict], wanted) -> int:
    return sum(ns for kinds, ns in stretches(rows) if wanted(kinds))


def span_of(rows: list[dict]) -> int:
    return max(row["end_ns"] for row in rows) - min(row["start_ns"] for row in rows)


def fraction(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def grouped(rows: list[dict], *columns: str) -> list[tuple[dict, list[dict]]]:
    groups = defaultdict(list)
    for row in rows:
        groups[tuple(row[column] for column in columns)].append(row)
    return [(dict(zip(columns, key, strict=True)), groups[key]) for key in sorted(groups)]


def breakdown(rows: list[dict]) -> dict:
    span, busy = span_of(rows), time_with(rows, bool)
    compute = time_with(rows, lambda kinds: "computation" in kinds)
    return {
        "span_ns": span,
        "busy_ns": busy,
        "idle_ns": span - busy,
        "compute_ns": compute,
        "non_compute_ns": busy - compute,
        "communication_ns": time_with(rows, lambda kinds: "communication" in kinds),
        "memory_ns": time_with(rows, lambda kinds: "memory" in kinds),
        "exposed_communication_ns": time_with(
            rows, lambda kinds: "communication" in kinds and "computation" not in kinds
        ),
        "exposed_memory_ns": time_with(rows, lambda kinds: kinds == {"memory"}),
        "idle_frac": fraction(span - busy, span),
        "compute_frac": fraction(compute, span),
        "non_compute_frac": fraction(busy - compute, span),
    }


def temporal_breakdown(trace: RawTrace) -> list[dict]:
    return [key | breakdown(rows) for key, rows in grouped(trace.activities, "device")]


def step_breakdown(trace: RawTrace) -> list[dict]:
    in_steps = [row for row in trace.activities if row["step"] is not None]
    return [key | breakdown(rows) for key, rows in grouped(in_steps, "device", "step")]


def comm_comp_overlap(trace: RawTrace) -> list[dict]:
    result = []
    for key, rows in grouped(trace.activities, "device"):
        communication = time_with(rows, lambda kinds: "communication" in kinds)
        overlap = time_with(rows, lambda kinds: {"communication", "computation"} <= kinds)
        result.append(
            key
            | {
                "communication_ns": communication,
                "overlap_ns": overlap,
                "overlap_frac": fraction(overlap, communication),
            }
        )
    return result


def kernel_kind_breakdown(trace: RawTrace) -> list[dict]:
    result = []
    for key, rows in grouped(trace.activities, "device"):
        times = defaultdict(int)
        for kinds, ns in stretches(rows):
            if kinds:
                times["+".join(sorted(kinds))] += ns
        busy = sum(times.values())
        for kinds, ns in sorted(times.items(), key=lambda item: (-item[1], item[0])):
            result.append(key | {"kinds": kinds, "time_ns": ns, "time_frac": ns / busy})
    return result


def kernel_stats(trace: RawTrace) -> list[dict]:
    result = []
    for kind, of_kind in grouped(trace.activities, "kind"):
        names = []
        for name, calls in grouped(of_kind, "name"):
            times = [row["dur_ns"] for row in calls]
            names.append(
                kind
                | name
                | {
                    "count": len(times),
                    "total_ns": sum(times),
                    "mean_ns": (2 * sum(times) + len(times)) // (2 * len(times)),  # halves up
                    "min_ns": min(times),
                    "max_ns": max(times),
                    "total_frac": fraction(sum(times), sum(row["dur_ns"] for row in of_kind)),
                }
            )
        names.sort(key=lambda row: (-row["total_ns"], row["name"]))
        result += [row | {"position": at} for at, row in enumerate(names, 1)]
    return result


def profiler_steps(trace: RawTrace) -> list[dict]:
    by_step = defaultdict(list)
    for step, span in trace.step_marks:
        by_step[step].append(span)
    activities, ops = defaultdict(list), defaultdict(int)
    for row in trace.activities:
        activities[row["step"]].append(row)
    for row in trace.host_ops:
        ops[row["step"]] += row["cat"] in {"cpu_op", "Operator"}
    result = []
    for step, marks in sorted(by_step.items()):
        start_ns = min(mark.start_ns for mark in marks)
        launched = activities[step]
        result.append(
            {
                "step": step,
                "start_ns": start_ns,
                "dur_ns": max(mark.end_ns for mark in marks) - start_ns,
                "gpu_busy_ns": time_with(launched, bool),
                "gpu_span_ns": span_of(launched) if launched else 0,
                "kernel_count": len(launched),
                "op_count": ops[step],
            }
        )
    return result
