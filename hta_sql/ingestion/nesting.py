"""Which span runs inside which, in time that grows with their number, whatever crosses whatever.

Spans come in the order of their starts: of equal starts the longer first, of equal spans the lower
id. The caller of a span is the last one to begin before it that is still on the stack and ends no
earlier. A span that is crossed (another begins inside it and ends after it) leaves the stack where
the first such span begins. Spans are half-open: one of no length lies in what begins at its
instant, not in what ends there.

    crossed   [=======|.....)
    crossing          [==========)
    inside    [==)      [==)             in crossed; in crossing

Nearly all spans of a real trace nest. So most are settled many at a time, from the leaves up, and
only what is left is walked one by one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from operator import attrgetter
from typing import NamedTuple

import numpy as np

NOBODY = -1
# Leaves go many at a time as long as each pass settles at least one span in so many.
WORTHWHILE = 32


class Nesting(NamedTuple):
    """What is known of spans in their order; each is told by its position, NOBODY is none.

    `parents` has the caller of each. `crossed` spans leave the stack at `cut_at`. Callers come
    first in `walked`, where a span may call the next, and then in the groups of `settled`, where no
    span calls another of its group. Those `still_open` may call what comes behind.
    """

    parents: np.ndarray
    walked: np.ndarray
    settled: list[np.ndarray]
    crossed: np.ndarray
    cut_at: np.ndarray
    still_open: np.ndarray


def nest(starts: np.ndarray, ends: np.ndarray, goes_on_at: int | None = None) -> Nesting:
    """Find the callers of spans in their order; `goes_on_at` is when the next one begins that is
    not among them, if there is one."""
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
    """A span of no length is open until its instant is over."""
    return np.maximum(ends, starts + 1)


def leaves(
    starts: np.ndarray,
    ends: np.ndarray,
    until: np.ndarray,
    left: np.ndarray,
    goes_on_at: int | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Of the spans that are left, those that call no other of them and lie in their caller, and
    these callers: places in `left`.

    Such a span is over before the next begins, so nothing crosses it. The last one before it that
    is not over before the next begins is its caller, where that one ends no earlier. What the span
    crosses further out its caller crosses, too, and earlier: it is not needed to find cuts.
    """
    next_start = np.append(starts[left[1:]], until[left[-1]] if goes_on_at is None else goes_on_at)
    is_over = until[left] <= next_start
    callers = np.maximum.accumulate(np.where(is_over, NOBODY, np.arange(len(left))))
    leaf = np.flatnonzero(is_over)
    caller = callers[leaf]
    at = left[caller]
    # Where nothing before is open, it is outermost.
    fits = (caller == NOBODY) | ((until[at] > starts[left[leaf]]) & (ends[at] >= ends[left[leaf]]))
    return leaf[fits], caller[fits]


def walk(
    positions: list[int], starts: list[int], ends: list[int], until: list[int], parents: np.ndarray
) -> tuple[list[int], list[int], list[int]]:
    """Find the callers of spans one by one; what is still open, and what is cut at what instant."""
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
    """For each span inside, which outer one holds it, the last one of several; NOBODY where none
    does. Both come in the order of their begins."""
    outer = [Outer(at, end, at) for at, end in enumerate(ends)]
    found = LastAround().find(begins, outer, starts_inside, ends_inside)
    return [NOBODY if around is None else around.id for around in found]


class LastAround:
    """Finds the outer span of the highest rank around each span inside, batch by batch.

    An outer one holds what starts from its begin on, before its end, and ends no later. Both come
    in the order of their begins. Ranks are distinct.
    """

    def __init__(self) -> None:
        # The outer ones that count, that none of higher rank outlasts: from the highest rank down,
        # so from the first end on.
        self._counting: list[Outer] = []

    @property
    def last_end(self) -> int | None:
        """When the last of the outer ones so far ends; None if there is none."""
        return self._counting[-1].end if self._counting else None

    def find(
        self,
        begins: Sequence[int],
        outer: Sequence[Outer],
        starts_inside: Sequence[int],
        ends_inside: Sequence[int],
    ) -> list[Outer | None]:
        """For each span inside, the outer one of the highest rank; these are added to those of the
        batches before."""
        counting = self._counting
        found = []
        at, count = 0, len(outer)
        for start, end in zip(starts_inside, ends_inside, strict=True):
            while at < count and begins[at] <= start:
                self._add(outer[at])
                at += 1
            # What has no length and starts at an end is no longer inside.
            place = bisect_left(counting, max(end, start + 1), key=end_of)
            found.append(counting[place] if place < len(counting) else None)
        for new in outer[at:]:
            self._add(new)
        return found

    def drop(self, until: int) -> None:
        """Forget those that hold nothing that starts at this instant or later."""
        del self._counting[: bisect_left(self._counting, until + 1, key=end_of)]

    def _add(self, new: Outer) -> None:
        """Let an outer one count in place of those that it outlasts, unless it is outlasted."""
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
