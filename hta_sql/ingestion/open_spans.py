"""The stack of spans that are open between two chunks of a thread's spans.

A chunk looks only at the spans that it may close or cross. It does not touch the stack below them,
which may be a million spans deep.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from hta_sql.ingestion.nesting import NOBODY, open_until

# Arrays of numbers, one row per span.
Columns = dict[str, np.ndarray]


class OpenSpans:
    """Nested spans, the outermost first; each ends no later than the one before it.

    The columns in `references` refer to spans of the stack further out, by their places.
    """

    def __init__(self, references: Sequence[str]):
        self._references = references
        # The stack in parts, and the place where each part begins.
        self._parts: list[Columns] = []
        self._begins: list[int] = []

    def __len__(self) -> int:
        return self._begins[-1] + len(self._parts[-1]["end_at"]) if self._parts else 0

    def take(self, first_start: int, last_start: int, last_end: int) -> list[Columns]:
        """Take off the spans that new spans between these instants may close or cross.

        Returns those that are not over before, in parts, the outermost first.
        """
        taken: list[Columns] = []
        while self._parts:
            part = self._parts.pop()
            until = open_until(part["start_at"], part["end_at"])
            # Both are counts from the start of the part.
            stay = int(np.count_nonzero((part["end_at"] >= last_end) & (until > last_start)))
            count = int(np.count_nonzero(until > first_start))
            taken.insert(0, {name: values[stay:count] for name, values in part.items()})
            if stay:
                self._parts.append({name: values[:stay] for name, values in part.items()})
                break
            self._begins.pop()
        return taken

    def innermost(self) -> tuple[np.ndarray, list[Columns]]:
        """The innermost span and those that it refers to: their places, and one row each."""
        if not self._parts:
            return np.empty(0, np.int64), []
        last = self._row(len(self) - 1)
        places = {len(self) - 1, *(int(last[name][0]) for name in self._references)} - {NOBODY}
        return np.array(sorted(places)), [self._row(place) for place in sorted(places)]

    def _row(self, place: int) -> Columns:
        number = bisect_right(self._begins, place) - 1
        at = place - self._begins[number]
        return {name: values[at : at + 1] for name, values in self._parts[number].items()}

    def put(self, spans: Columns) -> None:
        if len(spans["end_at"]):
            self._begins.append(len(self))
            self._parts.append(spans)


def joined(parts: list[Columns]) -> Columns:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def ids_at(spans: Columns, positions: np.ndarray) -> np.ndarray:
    return spans["event_id"][positions]


def with_nulls(ids: np.ndarray) -> pa.Array:
    return pa.array(ids, mask=ids == NOBODY)
