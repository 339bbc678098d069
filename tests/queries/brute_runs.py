"""baseline and regressions in plain Python."""

import math
from fractions import Fraction
from functools import cache
from statistics import median

from queries.brute_force import breakdown, grouped, rounded
from queries.runs import QUANTILES


@cache
def exceeded_by_chance(freedom: int, chance: float = 0.001) -> float:
    """t that |t| of so many degrees of freedom exceeds with this chance.

    With t = sqrt(freedom) * tan(angle), its density is that of cos(angle) ** (freedom - 1).
    """

    def area(start, end, pieces=600):
        width = (end - start) / pieces
        heights = [math.cos(start + at * width) ** (freedom - 1) for at in range(pieces + 1)]
        return (
            width
            / 3
            * (heights[0] + heights[-1] + 4 * sum(heights[1:-1:2]) + 2 * sum(heights[2:-1:2]))
        )

    whole, low, high = area(0, math.pi / 2), 0.0, math.pi / 2
    for _ in range(60):
        middle = (low + high) / 2
        if area(middle, math.pi / 2) > chance * whole:
            low = middle
        else:
            high = middle
    return math.sqrt(freedom) * math.tan(low)


# In plain Python

OF_BREAKDOWN = {
    "gpu_span": "span_ns",
    "gpu_busy": "busy_ns",
    "idle": "idle_ns",
    "compute": "compute_ns",
    "communication": "communication_ns",
    "memory": "memory_ns",
    "exposed_communication": "exposed_communication_ns",
    "exposed_memory": "exposed_memory_ns",
}


def in_order(start_ns, job):
    """Of runs: unknown beginnings first."""
    return (start_ns is not None, start_ns or 0, job)


def comparable(traces, newest_job, job_contains, run_limit):
    """The newest run and those before it, first ones first."""
    jobs = {}
    for (job,), rows in grouped(traces, "job"):
        if job_contains is None or job_contains in job:
            starts = [row["start_ns"] for row in rows if row["start_ns"] is not None]
            sizes = [row["world_size"] for row in rows if row["world_size"] is not None]
            jobs[job] = (
                min(starts, default=None),
                ({row["device_name"] for row in rows} - {None}, max(sizes, default=None)),
            )
    if newest_job is None:
        newest_job = max(jobs, key=lambda job: in_order(jobs[job][0], job), default=None)
    if newest_job not in jobs:
        return None, []
    newest_start, ran_on = jobs[newest_job]

    def is_before(start, job):
        if start is None or newest_start is None:
            return job < newest_job
        return (start, job) < (newest_start, newest_job)

    before = [
        job
        for job, (start, other) in jobs.items()
        if other == ran_on and job != newest_job and is_before(start, job)
    ]
    before.sort(key=lambda job: in_order(jobs[job][0], job))
    return newest_job, before[max(0, len(before) - run_limit) :]


def values_of(job, gpu_activities, host_ops, traces, short_names):
    """What is compared of a run: its value by kind and name."""
    activities = [row for row in gpu_activities if row["job"] == job]
    spans = [
        row
        for row in host_ops
        if row["job"] == job
        and row["name"].startswith("ProfilerStep#")
        and row["cat"] == "user_annotation"
    ]
    # Ranks' steps, and what was launched in each; without any, the ranks, and all of them.
    marked = dict(grouped(spans, "rank", "step"))
    if not marked:
        marked = {(row["rank"], None): [] for row in traces if row["job"] == job}
    in_steps = {
        key: [row for row in activities if (row["rank"], row["step"]) == key] for key in marked
    }

    of_steps = {}  # by name and step, of each rank
    for (rank, step), rows in in_steps.items():
        found = dict.fromkeys(OF_BREAKDOWN, 0)
        for of_device in breakdown(rows, "device"):
            for name, column in OF_BREAKDOWN.items():
                found[name] += of_device[column]
        found["kernel_sum"] = sum(row["dur_ns"] for row in rows)
        if spans:
            own = marked[rank, step]
            found["step_time"] = max(row["end_ns"] for row in own) - min(
                row["start_ns"] for row in own
            )
        for name, value in found.items():
            of_steps.setdefault(name, {}).setdefault(step, []).append(value)
    values = {
        ("step", name): rounded(
            median(rounded(Fraction(sum(ranks), len(ranks))) for ranks in by_step.values())
            + Fraction(0)
        )
        for name, by_step in of_steps.items()
    }
    for (name,), rows in grouped(activities, "short_name" if short_names else "name"):
        total_ns = sum(row["dur_ns"] for row in rows if not spans or row["step"] is not None)
        values["kernel", name] = rounded(Fraction(total_ns, len(in_steps)))
    return values


def expected_of(values):
    """Mean, and the lower and upper end of where one more is expected."""
    values, out = sorted(values), len(values) // 5
    kept = values[out : len(values) - out]
    mean = Fraction(sum(kept), len(kept))
    if len(kept) < 2:
        return rounded(mean), None, None
    drawn_in = [kept[0]] * out + kept + [kept[-1]] * out
    middle = Fraction(sum(drawn_in), len(drawn_in))
    variance = sum((value - middle) ** 2 for value in drawn_in) / (len(kept) - 1)
    noise = QUANTILES[len(kept) - 1] * math.sqrt(variance * (1 + Fraction(1, len(kept))))
    return rounded(mean), max(0, math.floor(mean - noise + 0.5)), math.floor(mean + noise + 0.5)


def runs_and_values(tables, newest_job, job_contains, run_limit, short_names):
    """The newest run, those before it, and what each has; then all that any of some has."""
    newest, before = comparable(tables["traces"], newest_job, job_contains, run_limit)
    values = {
        job: values_of(job, **tables, short_names=short_names)
        for job in ([newest, *before] if newest else [])
    }

    def of_runs(kind, name):
        """Kernels that are not there take no time; steps' times that are not there are none."""
        have = [values[job].get((kind, name), 0 if kind == "kernel" else None) for job in before]
        return [value for value in have if value is not None]

    return newest, before, values, of_runs


def by_name(name):
    return (name is None, name or "")


def baseline(tables, newest_job=None, job_contains=None, run_limit=10, short_names=True):
    _, before, values, of_runs = runs_and_values(
        tables, newest_job, job_contains, run_limit, short_names
    )
    rows = []
    for kind, name in {key for job in before for key in values[job]}:
        have = of_runs(kind, name)
        middle = Fraction(median(have))
        mean, low, high = expected_of(have)
        rows.append(
            {
                "kind": kind,
                "name": name,
                "run_count": len(have),
                "mean_ns": mean,
                "median_ns": rounded(middle),
                "mad_ns": rounded(Fraction(median(abs(value - middle) for value in have))),
                "low_ns": low,
                "high_ns": high,
                "min_ns": min(have),
                "max_ns": max(have),
                "first_job": before[0],
                "last_job": before[-1],
            }
        )
    return sorted(
        rows, key=lambda row: (row["kind"] == "kernel", -row["mean_ns"], by_name(row["name"]))
    )


def regressions(tables, newest_job=None, job_contains=None, run_limit=10, short_names=True):
    newest, before, values, of_runs = runs_and_values(
        tables, newest_job, job_contains, run_limit, short_names
    )
    rows = []
    for kind, name in {key for of_job in values.values() for key in of_job}:
        have = of_runs(kind, name)
        test = values[newest].get((kind, name), 0 if kind == "kernel" else None)
        if not have or test is None:
            continue
        mean, low, high = expected_of(have)
        rows.append(
            {
                "kind": kind,
                "name": name,
                "position": None,
                "change": change_of(
                    test,
                    mean,
                    low,
                    high,
                    was_there=any((kind, name) in values[job] for job in before),
                    is_there=(kind, name) in values[newest],
                ),
                "test_ns": test,
                "mean_ns": mean,
                "diff_ns": test - mean,
                "diff_ratio": (test - mean) / mean if mean else None,
                "low_ns": low,
                "high_ns": high,
                "run_count": len(have),
                "job": newest,
            }
        )
    rows.sort(
        key=lambda row: (
            row["change"] in (None, "unchanged"),
            -abs(row["diff_ns"]),
            row["kind"] == "kernel",
            by_name(row["name"]),
        )
    )
    for position, row in enumerate(rows, start=1):
        row["position"] = position
    return rows


def change_of(test, mean, low, high, was_there, is_there):
    if not was_there:
        return "added"
    if low is None:
        return "unchanged" if test == mean else None
    if not is_there and low > 0:
        return "deleted"
    if 100 * abs(test - mean) < mean or low <= test <= high:
        return "unchanged"
    return "increased" if test > mean else "decreased"
