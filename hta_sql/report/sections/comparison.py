"""What is otherwise than in the job before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hta_sql import plot
from hta_sql.comparison import Comparison
from hta_sql.report.parts import Chart, Part, Table, Text

if TYPE_CHECKING:
    from hta_sql.report.subject import Subject

TITLE = "What changed"
PLACE = 15


def parts(subject: Subject) -> Iterator[Part]:
    if subject.base is None:
        return
    two = {"base_job": subject.base, "test_job": subject.job}
    found = Comparison(subject.run, *two.values(), {}, None)
    for effect, word in (("prevents", "Not comparable"), ("weakens", "Take care")):
        if found.reasons[effect]:
            yield Text([f"{word}: {reason}." for reason in found.reasons[effect]], True)
    yield Text([f"{subject.job}, compared with {subject.base}. {found.headline}",
                *(cause["text"] for cause in found.causes[:10])])  # fmt: skip
    steps = subject.ask("step_diff", **two)
    if steps:
        yield Table("What a step spends time with", steps, [
            "name", "base_mean_ns", "test_mean_ns", "diff_mean_ns", "diff_ratio", "is_significant",
        ])  # fmt: skip
    kernels = subject.ask("kernel_diff", **two, short_names=True)
    if kernels:
        yield Chart("Kernels that take longer (to the right) or shorter than before.", kernels,
                    plot.diff(kernels.table))  # fmt: skip
        yield Table("Kernels, before and now", kernels, [
            "kind", "name", "change", "base_count", "test_count", "base_total_ns", "test_total_ns",
            "diff_total_ns", "base_mean_ns", "test_mean_ns",
        ])  # fmt: skip
    operators = subject.ask("op_diff", **two)
    if operators:
        yield Table("Operators and calls, before and now", operators, [
            "name", "change", "base_count", "test_count", "base_total_ns", "test_total_ns",
            "diff_total_ns", "base_kernel_ns", "test_kernel_ns",
        ])  # fmt: skip
