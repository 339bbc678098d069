"""How the devices spend their time, in total and per step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from hta_sql import plot
from hta_sql.report.parts import Chart, Part, Table, Text
from hta_sql.report.shares import PARTS, says_shares

if TYPE_CHECKING:
    import pyarrow as pa

    from hta_sql.plot.drawing import Drawing
    from hta_sql.report.subject import Answer, Subject

TITLE = "Where the time goes"
LINK = "Time"
PLACE = 20


def parts(subject: Subject) -> Iterator[Part]:
    devices = subject.ask("temporal_breakdown")
    if not devices:
        return
    if len(devices.rows) == 1:
        [row] = devices.rows
        named = [(name, row[column]) for name, column in PARTS]
        yield Text([says_shares("The GPU, from its first activity to its last", named)])
    else:
        yield Chart(
            "GPU time per device, in % of the time from its first GPU activity to its last.",
            devices,
            plot.temporal_breakdown.drawing(devices.table),
        )
    steps = subject.ask("step_breakdown")
    if len(steps.rows) > 1:
        chart = plot.step_breakdown.drawing(steps.table)
        title = chart.layout["title"]["text"]  # says whether it shows a mean
        yield Chart(
            f"{title}, from the step's first GPU activity to its last. If steps "
            "overlap, activities of other steps count as idle time.",
            steps,
            chart,
        )
    kinds = subject.ask("kernel_kind_breakdown")
    yield _busy(kinds, "kinds", "kinds of GPU activity", plot.kernel_kind_breakdown.drawing)
    categories = subject.ask("category_breakdown")
    yield _busy(categories, "categories", "categories of kernels", plot.category_breakdown.drawing)
    if len(devices.rows) == 1:
        return
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


def _busy(answer: Answer, column: str, what: str, chart: Callable[[pa.Table], Drawing]) -> Part:
    """A chart of what ran in the busy time, or a sentence if it was always the same."""
    ran = {row[column] for row in answer.rows}
    if len(ran) == 1:
        return Text([f"Of all {what}, only one ran in the busy time: {min(ran)}."])
    return Chart(
        f"Busy time of all devices by the {what} that ran. Each instant counts once.",
        answer,
        chart(answer.table),
    )
