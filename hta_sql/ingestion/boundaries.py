"""Guesses from a few bytes where one element of a list ends and the next begins."""

from __future__ import annotations

import re

import numpy as np

SEPARATORS = re.compile(rb"[ \t\r\n,]*+")
# numpy skips longer runs of separators faster.
FEW_SEPARATORS = 1 << 10
IS_SEPARATOR = np.zeros(256, bool)
IS_SEPARATOR[list(b" \t\r\n,")] = True
BETWEEN_ELEMENTS = re.compile(rb"\}\s*+,\s*+\{\s*+\Z")
MOST_KEYS_TRIED = 1000


def behind_separators(data: bytes) -> int:
    """The end of the blanks and commas at the beginning of `data`."""
    end = SEPARATORS.match(data, 0, FEW_SEPARATORS).end()
    if end < FEW_SEPARATORS:
        return end
    others = ~IS_SEPARATOR[np.frombuffer(data, np.uint8)]
    return int(np.argmax(others)) if others.any() else len(data)


def last_boundary(data: bytes, first_key: bytes) -> int | None:
    """The end of the last element in `data` that another element seems to follow."""
    # If every element begins with the same key, a boundary before that key is safe. Any other
    # boundary may lie inside an argument that is a list of objects.
    for key in (first_key, b'"'):
        at = len(data)
        for _ in range(MOST_KEYS_TRIED):
            at = data.rfind(key, 0, at)
            if at < 0:
                break
            if (end := end_before(data, at)) is not None:
                return end
    return None


def end_before(data: bytes, key_at: int) -> int | None:
    """The end of the element before the one with its first key here; None if it is not first."""
    size = 1 << 8
    while True:
        before = data[max(0, key_at - size) : key_at]
        if match := BETWEEN_ELEMENTS.search(before):
            return key_at - len(before) + match.start() + 1
        if size >= key_at or before.strip(b" \t\r\n,{"):
            return None
        size <<= 6
