"""What ran when, in one step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from hta_sql import plot
from hta_sql.report.parts import Chart, Part

if TYPE_CHECKING:
    from hta_sql.report.subject import Subject

TITLE = "Timeline"
PLACE = 80
# More marks make a page slow.
_MOST = 8000


def parts(subject: Subject) -> Iterator[Part]:
    chosen = {"only_ranks": subject.shown_ranks}
    if subject.step is not None:
        chosen["only_steps"] = [subject.step]
    activities = subject.ask("kernel_timeline", **chosen)
    if not activities:
        return
    told = "The whole trace." if subject.step is None else f"Step {subject.step}."
    if activities.table.num_rows > _MOST:
        # Longer than the first one that is left out, so at most _MOST.
        durations = np.partition(activities.table["dur_ns"].to_numpy(), -_MOST - 1)
        shortest = 1 + int(durations[-_MOST - 1])
        count = activities.table.num_rows
        activities = subject.ask("kernel_timeline", **chosen, min_dur_ns=shortest)
        told += (
            f" The {activities.table.num_rows:,} longest of {count:,} activities: "
            "hta-sql export perfetto has all."
        )
    yield Chart(
        f"{told} {subject.says_ranks} Drag to zoom in, double-click to zoom out.",
        activities,
        plot.kernel_timeline(activities.table),
    )
