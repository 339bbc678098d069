"""The time per step of two jobs, and its parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hta_sql.diagnosis.html import PART_COLOURS
from hta_sql.plot.timeline import category_colours
from hta_sql.report.parts import Bars, Part, Table

if TYPE_CHECKING:
    from hta_sql.report.subject import Answer, Subject

TITLE = "Time per step, before and now"
LINK = "Step times"
PLACE = 2
IS_OPEN = True
OF_TWO = True
_STEP_PARTS = {
    "compute": "compute",
    "exposed_communication": "exposed communication",
    "exposed_memory": "exposed copies",
    "idle": "idle",
}


def parts(subject: Subject) -> Iterator[Part]:
    two = {"base_job": subject.base, "test_job": subject.job}
    steps = subject.ask("step_diff", **two)
    if steps:
        yield from _step(subject, steps)
        yield Table(
            "Per step before (base) and now (test): trimmed means of the steps, and the interval "
            "that has the difference",
            steps,
            [
                "name",
                "base_mean_ns",
                "test_mean_ns",
                "diff_mean_ns",
                "diff_low_ns",
                "diff_high_ns",
                "is_significant",
            ],
            heads={
                "base_mean_ns": "base",
                "test_mean_ns": "test",
                "diff_mean_ns": "difference",
                "diff_low_ns": "at least",
                "diff_high_ns": "at most",
                "is_significant": "beyond noise",
            },
        )
    categories = subject.ask("category_diff", **two)
    if categories:
        yield _categories(subject, categories)


def _step(subject: Subject, steps: Answer) -> Iterator[Bars]:
    rows = {row["name"]: row for row in steps.rows}
    if "gpu_span" not in rows:
        return
    bars = []
    for side, job in (("base", subject.base), ("test", subject.job)):
        column = f"{side}_mean_ns"
        times = {
            says: (rows[name][column] or 0) if name in rows else 0
            for name, says in _STEP_PARTS.items()
        }
        bars.append((f"{side}, {job}", rows["gpu_span"][column] or 0, times))
    what = "A step: trimmed means of the steps" if "step_time" in rows else "The whole trace"
    yield Bars(
        f"{what}, from the first to the last activity, summed over the GPUs of a rank",
        steps,
        bars,
        PART_COLOURS,
    )


def _categories(subject: Subject, categories: Answer) -> Bars:
    """The categories of kernels, in the colours of the pictures."""
    rows = categories.rows
    colours = category_colours(
        {row["category"]: row["base_total_ns"] + row["test_total_ns"] for row in rows}
    )
    bars = []
    for side, job in (("base", subject.base), ("test", subject.job)):
        times = dict.fromkeys(colours, 0)
        for row in rows:
            name = row["category"] if row["category"] in colours else list(colours)[-1]
            times[name] += row[f"{side}_per_step_ns"]
        bars.append((f"{side}, {job}", sum(times.values()), times))
    return Bars(
        "Kernel categories: sums of durations per step and rank. What runs at the same time counts "
        "in full",
        categories,
        bars,
        colours,
    )
