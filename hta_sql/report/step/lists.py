"""What the windows of a picture share, and the rows of one window."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from hta_sql.report.step.bars import NONE, Bars

# A row of a picture: its thread or GPU, and its title.
Key = tuple[str, str]
WAITS = "waits for the GPU"
HOST_COLOURS = {
    "Python": "#b39ac4",
    "annotations": "#bcc4d0",
    "operators": "#8592a6",
    "inner operators": "#8592a6",
    "calls": "#586779",
    WAITS: "#e59a9a",
}


class Numbers(dict[Hashable, int]):
    """Numbers its keys from 0, in the order in which they are first asked for."""

    def __missing__(self, key: Hashable) -> int:
        self[key] = len(self)
        return self[key]


def times_of(activities: Iterable[pa.Table]) -> Counter[str]:
    """The time of each category of GPU activities."""
    times: Counter[str] = Counter()
    for table in activities:
        columns = (table[name].to_pylist() for name in ("category", "start", "until"))
        for category, start, until in zip(*columns, strict=True):
            times[category] += until - start
    return times


class Lists:
    """Names, call stacks and categories by number. A frame of a stack is its caller's frame (or
    NONE) and a name. `gpu` has the colours of categories on the GPU."""

    def __init__(self, gpu: Mapping[str, str]) -> None:
        self.colours = {**gpu, **HOST_COLOURS}
        self.names, self.frames, self.categories = Numbers(), Numbers(), Numbers()
        for name in self.colours:
            self.category(name)
        self._rest = list(gpu)[-1] if gpu else WAITS

    def category(self, name: str) -> int:
        """The number of a category; one without a colour belongs to the last of the GPU's."""
        return self.categories[name if name in self.colours else self._rest]


@dataclass
class Rows:
    """The rows of a window, from top to bottom; the rows of events and the frames of host
    operations by event_id."""

    bars: dict[Key, Bars] = field(default_factory=dict)
    row_of: dict[int, Key] = field(default_factory=dict)
    frame_of: dict[int, int] = field(default_factory=dict)

    def frame(self, event: int | None) -> int:
        return self.frame_of.get(event, NONE)
