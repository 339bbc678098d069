"""What is otherwise than in the job before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hta_sql import plot
from hta_sql.comparison.comparison import Comparison
from hta_sql.report.parts import Chart, Part, Table, Text

if TYPE_CHECKING:
    from hta_sql.report.subject import Subject

TITLE = "What changed"
PLACE = 15
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
    compared = f"{subject.job}, compared with {subject.base}."
    if found.reasons["prevents"]:
        yield Text([f"{compared} The tables below are side by side for what that is worth."])
    else:
        yield Text([f"{compared} {found.headline}", *_causes(found)])
    steps = subject.ask("step_diff", **two)
    if steps and not found.reasons["prevents"]:
        yield Table(
            "What a step spends time with",
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
            "Kernels that take longer (to the right) or shorter than before.",
            kernels,
            plot.diff(kernels.table),
        )
        yield Table(
            "Kernels before and now: calls in all, time of a call and of a rank's step",
            kernels,
            ["kind", "name", *_BEFORE_AND_NOW],
        )
    operators = subject.ask("op_diff", **two, only_cats=["cpu_op", "Operator"])
    if operators:
        yield Table("Operators before and now, on the host", operators, ["name", *_BEFORE_AND_NOW])


def _causes(found: Comparison) -> Iterator[str]:
    """What changed first, the largest ten."""
    if not found.causes:
        yield "No cause is beyond noise: no operator, shape, kernel or collective."
        return
    yield "Beyond noise, by time in a step:"
    for cause in found.causes[:10]:
        yield f"{cause['position']}. {cause['text']}"
