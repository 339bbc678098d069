"""Finds which span runs inside which, in time proportional to their number even if spans cross.

Spans are ordered by start; for equal starts the longer span comes first, and for equal spans the
one with the lower id. The caller of a span is the last one to begin before it that is still on the
stack and ends no earlier. A span is crossed if another begins inside it and ends after it. It
leaves the stack where the first such span begins. Spans are half-open: a span of length 0 lies in a
span that begins at its instant, and not in one that ends there.

    crossed   [=======|.....)
    crossing          [==========)
    inside    [==)      [==)             in crossed; in crossing

Nearly all spans of a real trace nest. So most are settled many at a time, from the leaves up, and
only the rest is walked one by one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from operator import attrgetter
from typing import NamedTuple

import numpy as np

NOBODY = -1
# Leaves are settled many at a time while each pass settles at least one in this many spans.
WORTHWHILE = 32


class Nesting(NamedTuple):
    """How spans nest. They are given by their positions in order; NOBODY stands for no span.

    `parents` has the caller of each. `crossed` spans leave the stack at `cut_at`. In `walked`, a
    span may call the next. The groups of `settled` come after that, and no span calls another of
    its group. So callers come before the spans that they call. Spans that are `still_open` may call
    spans that come later.
    """

    parents: np.ndarray
    walked: np.ndarray
    settled: list[np.ndarray]
    crossed: np.ndarray
    cut_at: np.ndarray
    still_open: np.ndarray


def nest(starts: np.ndarray, ends: np.ndarray, goes_on_at: int | None = None) -> Nesting:
    """Find the callers of spans, which are in order. `goes_on_at` is when the next span begins that
    is not among them, if there is one."""
    parents = np.full(len(starts), NOBODY, np.int64)
    until = open_until(starts, ends)
    left = np.arange(len(starts))
    settled = []
    while len(left):
        leaf, caller = leaves(starts, ends, until, left, goes_on_at)
        if len(leaf) * WORTHWHILE < len(left):
            break
        parents[left[leaf]] = np.where(caller == NOBODY, NOBODY, left[caller])
        settled.append(left[leaf])
        keep = np.ones(len(left), bool)
        keep[leaf] = False
        left = left[keep]
    still_open, crossed, cut_at = (
        np.array(found, np.int64)
        for found in walk(
            left.tolist(), starts[left].tolist(), ends[left].tolist(), until[left].tolist(), parents
        )
    )
    return Nesting(parents, left, settled[::-1], crossed, cut_at, still_open)


def open_until(starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """When spans close. A span of length 0 is open until its instant is over."""
    return np.maximum(ends, starts + 1)


def leaves(
    starts: np.ndarray,
    ends: np.ndarray,
    until: np.ndarray,
    left: np.ndarray,
    goes_on_at: int | None,
) -> tuple[np.ndarray, np.ndarray]:
    """The leaves of the spans that are left, and their callers, as places in `left`. A leaf calls
    none of these spans, and lies in its caller.

    A leaf is over before the next span begins, so nothing crosses it. Its caller is the last span
    before it that is not over before its own next span begins, if that one ends no earlier than the
    leaf. If the leaf crosses spans further out, its caller crosses them, too, and earlier. So the
    leaf is not needed to find cuts.
    """
    next_start = np.append(starts[left[1:]], until[left[-1]] if goes_on_at is None else goes_on_at)
    is_over = until[left] <= next_start
    callers = np.maximum.accumulate(np.where(is_over, NOBODY, np.arange(len(left))))
    leaf = np.flatnonzero(is_over)
    caller = callers[leaf]
    at = left[caller]
    # If no span before it is open, it is outermost.
    fits = (caller == NOBODY) | ((until[at] > starts[left[leaf]]) & (ends[at] >= ends[left[leaf]]))
    return leaf[fits], caller[fits]


def walk(
    positions: list[int], starts: list[int], ends: list[int], until: list[int], parents: np.ndarray
) -> tuple[list[int], list[int], list[int]]:
    """Find callers one by one; returns the spans still open, those crossed, and their cuts."""
    found, crossed, cut_at = [], [], []
    stack: list[int] = []
    open_until: list[int] = []
    open_ends: list[int] = []
    for position, start, end, over in zip(positions, starts, ends, until, strict=True):
        while stack and (open_until[-1] <= start or open_ends[-1] < end):
            if open_until.pop() > start:
                crossed.append(stack[-1])
                cut_at.append(start)
            stack.pop()
            open_ends.pop()
        found.append(stack[-1] if stack else NOBODY)
        stack.append(position)
        open_until.append(over)
        open_ends.append(end)
    parents[positions] = found
    return stack, crossed, cut_at


class Outer(NamedTuple):
    """A span that may be around others."""

    rank: int
    end: int
    id: int


def last_around(
    begins: Sequence[int],
    ends: Sequence[int],
    starts_inside: Sequence[int],
    ends_inside: Sequence[int],
) -> list[int]:
    """For each inner span, the outer span that holds it, the last one if several do, or NOBODY.

    Both come in the order of their starts.
    """
    outer = [Outer(at, end, at) for at, end in enumerate(ends)]
    found = LastAround().find(begins, outer, starts_inside, ends_inside)
    return [NOBODY if around is None else around.id for around in found]


class LastAround:
    """Finds the outer span of the highest rank around each inner span, batch by batch.

    An outer span holds an inner span if the inner one starts at its start or later, but before its
    end, and ends no later. Both come in the order of their starts. Ranks are distinct.
    """

    def __init__(self) -> None:
        # The outer spans that count: no span of higher rank outlasts them. They are ordered from
        # the highest rank down, and therefore by their ends.
        self._counting: list[Outer] = []

    @property
    def last_end(self) -> int | None:
        """The last end of the outer spans so far; None if there are none."""
        return self._counting[-1].end if self._counting else None

    def find(
        self,
        begins: Sequence[int],
        outer: Sequence[Outer],
        starts_inside: Sequence[int],
        ends_inside: Sequence[int],
    ) -> list[Outer | None]:
        """For each inner span, the outer span of the highest rank. `outer` is added to the outer
        spans of the batches before."""
        counting = self._counting
        found = []
        at, count = 0, len(outer)
        for start, end in zip(starts_inside, ends_inside, strict=True):
            while at < count and begins[at] <= start:
                self._add(outer[at])
                at += 1
            # A span of length 0 that starts at an end is not inside.
            place = bisect_left(counting, max(end, start + 1), key=end_of)
            found.append(counting[place] if place < len(counting) else None)
        for new in outer[at:]:
            self._add(new)
        return found

    def drop(self, until: int) -> None:
        """Forget outer spans that can hold no span that starts at this instant or later."""
        del self._counting[: bisect_left(self._counting, until + 1, key=end_of)]

    def _add(self, new: Outer) -> None:
        """Let an outer span replace those that it outlasts, unless a higher rank outlasts it."""
        counting = self._counting
        first = bisect_left(counting, -new.rank, key=minus_rank)
        if first and counting[first - 1].end >= new.end:
            return
        last = first
        while last < len(counting) and counting[last].end <= new.end:
            last += 1
        counting[first:last] = [new]


end_of = attrgetter("end")


def minus_rank(outer: Outer) -> int:
    return -outer.rank
