"""How the devices spend their time, in total and per step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hta_sql import plot
from hta_sql.report.parts import Chart, Part, Table

if TYPE_CHECKING:
    from hta_sql.report.subject import Subject

TITLE = "Where the time goes"
PLACE = 20


def parts(subject: Subject) -> Iterator[Part]:
    devices = subject.ask("temporal_breakdown")
    if not devices:
        return
    yield Chart(
        "GPU time per device, in % of the time from its first GPU activity to its last.",
        devices,
        plot.temporal_breakdown(devices.table),
    )
    steps = subject.ask("step_breakdown")
    if steps:
        chart = plot.step_breakdown(steps.table)
        # The title of the chart says whether it shows a mean.
        yield Chart(
            f"{chart.layout.title.text}, from the step's first GPU activity to its last. If steps "
            "overlap, activities of other steps count as idle time.",
            steps,
            chart,
        )
    kinds = subject.ask("kernel_kind_breakdown")
    yield Chart(
        "Busy time of all devices by the kinds of GPU activity that ran, in %. Each instant counts "
        "once.",
        kinds,
        plot.kernel_kind_breakdown(kinds.table),
    )
    categories = subject.ask("category_breakdown")
    yield Chart(
        "Busy time of all devices by the categories of kernels that ran. Each instant counts once.",
        categories,
        plot.category_breakdown(categories.table),
    )
    yield Table(
        "GPU time per device",
        devices,
        [
            "rank",
            "device",
            "span_ns",
            "busy_ns",
            "compute_ns",
            "exposed_communication_ns",
            "exposed_memory_ns",
            "idle_ns",
            "compute_frac",
            "idle_frac",
        ],
        most=512,
    )
