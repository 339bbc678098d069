"""The GPU activities of one step on a timeline."""

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
# More marks would make the page slow.
_MOST = 8000


def parts(subject: Subject) -> Iterator[Part]:
    chosen = {"only_ranks": subject.shown_ranks}
    if subject.step is not None:
        chosen["only_steps"] = [subject.step]
    activities = subject.ask("kernel_timeline", **chosen)
    if not activities:
        return
    shown = "the whole trace" if subject.step is None else f"step {subject.step}"
    caption = f"GPU activities of {shown}."
    if activities.table.num_rows > _MOST:
        # One ns more than the longest that is left out, so that at most _MOST remain.
        durations = np.partition(activities.table["dur_ns"].to_numpy(), -_MOST - 1)
        shortest = 1 + int(durations[-_MOST - 1])
        count = activities.table.num_rows
        activities = subject.ask("kernel_timeline", **chosen, min_dur_ns=shortest)
        caption += (
            f" Only the {activities.table.num_rows:,} longest of {count:,} are drawn; "
            "hta-sql export perfetto writes all."
        )
    yield Chart(
        f"{caption} {subject.says_ranks} Drag to zoom in, double-click to zoom out.",
        activities,
        plot.kernel_timeline(activities.table),
    )
