"""What changed since the job before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hta_sql import plot
from hta_sql.comparison.comparison import Comparison
from hta_sql.report.parts import Chart, Part, Table, Text

if TYPE_CHECKING:
    from hta_sql.report.subject import Subject

TITLE = "What changed"
PLACE = 7
IS_OPEN = True
_BEFORE_AND_NOW = (
    "base_count",
    "test_count",
    "base_mean_ns",
    "test_mean_ns",
    "base_per_step_ns",
    "test_per_step_ns",
    "diff_per_step_ns",
)


def parts(subject: Subject) -> Iterator[Part]:
    if subject.base is None:
        return
    two = {"base_job": subject.base, "test_job": subject.job}
    found = Comparison(subject.run, *two.values(), {}, None)
    for effect, word in (("prevents", "Not comparable"), ("weakens", "Take care")):
        if found.reasons[effect]:
            yield Text([f"{word}: {reason}." for reason in found.reasons[effect]], True)
    compared = f"Job {subject.job} compared with job {subject.base}:"
    if found.reasons["prevents"]:
        yield Text([f"{compared} The tables below show both, but the differences mean little."])
    else:
        yield Text([compared, found.headline, *_causes(found)])
    steps = subject.ask("step_diff", **two)
    if steps and not found.reasons["prevents"]:
        yield Table(
            "Time per step before (base) and now (test), trimmed mean of the steps",
            steps,
            [
                "name",
                "base_mean_ns",
                "test_mean_ns",
                "diff_mean_ns",
                "diff_ratio",
                "is_significant",
            ],
        )
    kernels = subject.ask("kernel_diff", **two, short_names=True)
    if kernels:
        yield Chart(
            "Kernels whose time changed most. Right of 0: longer than before. Left of 0: shorter.",
            kernels,
            plot.diff(kernels.table),
        )
        yield Table(
            "Kernels before (base) and now (test): calls, mean time per call, time per step and "
            "rank",
            kernels,
            ["kind", "name", *_BEFORE_AND_NOW],
        )
    categories = subject.ask("category_diff", **two)
    if categories:
        yield Table(
            "Kernel categories before (base) and now (test): calls, mean time per call, time per "
            "step and rank",
            categories,
            ["category", *_BEFORE_AND_NOW],
        )
    operators = subject.ask("op_diff", **two, only_cats=["cpu_op", "Operator"])
    if operators:
        yield Table(
            "Operators on the host before (base) and now (test): calls, mean time per call, time "
            "per step and rank",
            operators,
            ["name", *_BEFORE_AND_NOW],
        )


def _causes(found: Comparison) -> Iterator[str]:
    """The ten causes with the largest change of time per step."""
    if not found.causes:
        yield "No operator, shape, kernel or collective changed beyond noise."
        return
    yield "Causes beyond noise, largest change of time per step first:"
    for cause in found.causes[:10]:
        yield f"{cause['position']}. {cause['text']}"
