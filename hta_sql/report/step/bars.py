"""Bars of one row of a picture, with short ones summed up where there are too many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

# Short bars are summed up in this many slices of a window.
SLICES = 1024
NONE = -1


@dataclass
class Bars:
    """Columns of equal length, in order of start. Times are ns since the window begins.

    `category` and `name` are places in the lists of the picture, `frame` a place in its call stacks
    (NONE: none), and `event` the event_id (NONE: of no event).
    """

    start: np.ndarray
    end: np.ndarray
    category: np.ndarray
    name: np.ndarray
    frame: np.ndarray
    event: np.ndarray

    @property
    def size(self) -> np.ndarray:
        return self.end - self.start

    def of(self, chosen: np.ndarray) -> Bars:
        return Bars(*(column[chosen] for column in vars(self).values()))

    def in_order(self) -> Bars:
        """By start. Of bars that start together, the longest comes first."""
        return self.of(np.lexsort((-self.size, self.start)))


def shortest_of(rows: list[Bars], most: int) -> int:
    """The duration from which bars are drawn one by one, so that they are at most `most`."""
    sizes = np.concatenate([row.size for row in rows]) if rows else np.empty(0, int)
    if len(sizes) <= most:
        return 0
    return 1 + int(np.partition(sizes, -most - 1)[-most - 1])


def packed(bars: Bars, span: int, shortest: int) -> dict[str, Any]:
    """The bars as lists for JSON, and the busy time of bars below `shortest` in slices.

    Starts and events are differences to the bar before. A slice is its place, the category, the
    share in which bars of this category run, in thousandths, and how many begin in it.
    """
    is_long = bars.size >= shortest
    long, short = bars.of(is_long).in_order(), bars.of(~is_long)
    made = {
        "start": np.diff(long.start, prepend=0).tolist(),
        "size": long.size.tolist(),
        "category": long.category.tolist(),
        "name": long.name.tolist(),
        "frame": long.frame.tolist(),
        "event": np.diff(long.event, prepend=0).tolist(),
    }
    slices: list[list[int]] = []
    edges = np.linspace(0, span, SLICES + 1)
    for category in np.unique(short.category).tolist():
        mine = short.of(short.category == category)
        share = np.diff(_busy_until(edges, mine)) / (span / SLICES)
        begun = np.histogram(mine.start, edges)[0]
        for place in np.flatnonzero((share > 0) | (begun > 0)).tolist():
            thousandths = min(1000, max(1, round(1000 * float(share[place]))))
            slices.append([place, category, thousandths, int(begun[place])])
    if slices:
        made["slices"] = sorted(slices)
    return made


def _busy_until(at: np.ndarray, bars: Bars) -> np.ndarray:
    """The time that bars have run until each instant, each bar in full."""

    def passed(moments: np.ndarray) -> np.ndarray:
        """The sum of the times from each earlier moment to each instant."""
        moments = np.sort(moments).astype(float)
        sums = np.concatenate([[0.0], np.cumsum(moments)])
        count = np.searchsorted(moments, at)
        return count * at - sums[count]

    return passed(bars.start) - passed(bars.end)


def busiest(start: np.ndarray, end: np.ndarray, level: np.ndarray) -> tuple[np.ndarray, ...]:
    """What runs at each instant: start, end and the lowest level of the intervals that run then.

    Neighbours of one level are one interval; times without an interval are left out.
    """
    at = np.concatenate([start, end])
    which = np.concatenate([level, level])
    step = np.concatenate([np.ones(len(start), int), np.full(len(end), -1)])
    order = np.argsort(at, kind="stable")
    at, which, step = at[order], which[order], step[order]
    top = np.full(len(at), NONE)
    for one in np.unique(level)[::-1]:  # the lowest level is written last
        running = np.cumsum(np.where(which == one, step, 0)) > 0
        top[running] = one
    ends = np.append(at[1:], at[-1:])
    there = ends > at
    at, ends, top = at[there], ends[there], top[there]
    begins = np.flatnonzero(np.diff(top, prepend=NONE - 1) != 0)
    stops = np.append(begins[1:] - 1, len(top) - 1)[: len(begins)]
    shown = top[begins] != NONE
    return at[begins][shown], ends[stops][shown], top[begins][shown]
