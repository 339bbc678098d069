"""Finds how brackets nest in bytes that arrive in slices, many brackets at a time.

Brackets in strings and escaped quotes do not count. Time and memory do not depend on what the bytes
are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

# This many bytes are examined at a time, which bounds the memory.
SLICE_BYTES = 1 << 20
QUOTE, BACKSLASH = ord('"'), ord("\\")
# `[` and `]` with the bit SQUARE_TO_CURLY set are `{` and `}`.
OPENING, CLOSING, SQUARE_TO_CURLY = ord("{"), ord("}"), ord("{") ^ ord("[")
SCALAR_END = re.compile(rb"[ \t\r\n,\]}]")


class Marks(NamedTuple):
    """Brackets and quotes in order: the position of each, the number of brackets open after it,
    and whether it begins a string."""

    at: np.ndarray
    depth: np.ndarray
    begins_string: np.ndarray


class Brackets:
    """Finds the brackets and quotes in bytes that arrive slice by slice."""

    def __init__(self, depth: int = 0):
        self._depth = depth
        self._in_string = False
        self._is_escaped = False  # whether the next byte is escaped

    def slices(self, data: bytes, begin: int, end: int) -> Iterator[tuple[int, Marks]]:
        """The start of each slice, and its marks, with positions counted from there."""
        for at in range(begin, end, SLICE_BYTES):
            yield at, self._marks(data[at : min(at + SLICE_BYTES, end)])

    def _marks(self, data: bytes) -> Marks:
        text = np.frombuffer(data, np.uint8)
        curly = text | SQUARE_TO_CURLY
        at = np.flatnonzero((text == QUOTE) | (curly == OPENING) | (curly == CLOSING))
        if self._is_escaped or b"\\" in data:
            at = np.setdiff1d(at, self._escaped(text), assume_unique=True)
        is_quote = text[at] == QUOTE
        in_string = (np.cumsum(is_quote) + self._in_string) % 2 == 1
        counts = is_quote | ~in_string
        at, is_quote = at[counts], is_quote[counts]
        begins_string = is_quote & in_string[counts]
        steps = np.where(is_quote, 0, np.where(curly[at] == OPENING, 1, -1))
        depth = self._depth + np.cumsum(steps)
        if len(in_string):
            self._in_string = bool(in_string[-1])
        if len(depth):
            self._depth = int(depth[-1])
        return Marks(at, depth, begins_string)

    def _escaped(self, text: np.ndarray) -> np.ndarray:
        """The positions of escaped bytes: those after an odd number of backslashes."""
        slashes = np.flatnonzero(text == BACKSLASH)
        before = np.zeros(int(self._is_escaped), np.int64)
        if self._is_escaped:
            slashes = slashes[slashes > 0]
        begins = np.flatnonzero(np.diff(slashes, prepend=-2) > 1)
        lengths = np.diff(begins, append=len(slashes))
        escaped = (slashes[begins] + lengths)[lengths % 2 == 1]
        self._is_escaped = bool(len(escaped) and escaped[-1] == len(text))
        return np.concatenate([before, escaped])


class ValueEnd:
    """Finds where a JSON value ends. Its bytes arrive in order, from the first one on."""

    def __init__(self) -> None:
        self._brackets = Brackets()
        self._is_scalar: bool | None = None

    def find(self, data: bytes) -> int | None:
        """Where the value ends in these bytes, its next ones; None if it goes on."""
        if self._is_scalar is None and data:
            self._is_scalar = data[:1] not in (b"{", b"[", b'"')
        if self._is_scalar:
            end = SCALAR_END.search(data)
            return end and end.start()
        for begin, marks in self._brackets.slices(data, 0, len(data)):
            ends = np.flatnonzero((marks.depth <= 0) & ~marks.begins_string)
            if len(ends):
                return begin + int(marks.at[ends[0]]) + 1
        return None
