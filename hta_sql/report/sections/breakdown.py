"""How the devices' time splits, in all and step by step."""

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
        "Each device, from its first activity to its last.",
        devices,
        plot.temporal_breakdown(devices.table),
    )
    steps = subject.ask("step_breakdown")
    if steps:
        chart = plot.step_breakdown(steps.table)
        # Its title tells whether it is a mean.
        yield Chart(
            f"{chart.layout.title.text}, from its first GPU activity to its last; where "
            "steps overlap, another's work counts as idle.",
            steps,
            chart,
        )
    kinds = subject.ask("kernel_kind_breakdown")
    yield Chart(
        "What ran while the devices were busy; every instant counts once.",
        kinds,
        plot.kernel_kind_breakdown(kinds.table),
    )
    yield Table(
        "Devices",
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
