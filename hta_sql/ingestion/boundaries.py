"""Where one element of a list seems to end and the next to begin, told by a few bytes."""

from __future__ import annotations

import re

import numpy as np

SEPARATORS = re.compile(rb"[ \t\r\n,]*+")
# More than as many are found faster by numpy.
FEW_SEPARATORS = 1 << 10
IS_SEPARATOR = np.zeros(256, bool)
IS_SEPARATOR[list(b" \t\r\n,")] = True
BETWEEN_ELEMENTS = re.compile(rb"\}\s*+,\s*+\{\s*+\Z")
MOST_KEYS_TRIED = 1000


def behind_separators(data: bytes) -> int:
    """Where the blanks and commas that data begins with end."""
    end = SEPARATORS.match(data, 0, FEW_SEPARATORS).end()
    if end < FEW_SEPARATORS:
        return end
    others = ~IS_SEPARATOR[np.frombuffer(data, np.uint8)]
    return int(np.argmax(others)) if others.any() else len(data)


def last_boundary(data: bytes, first_key: bytes) -> int | None:
    """The end of the last element in `data` that another one seems to follow."""
    # Where every element begins with the same key, a boundary before that key is a safe one;
    # others may lie inside an argument that is a list of objects.
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
    """The end of the element before that whose first key this is; None if it is no first key."""
    size = 1 << 8
    while True:
        before = data[max(0, key_at - size) : key_at]
        if match := BETWEEN_ELEMENTS.search(before):
            return key_at - len(before) + match.start() + 1
        if size >= key_at or before.strip(b" \t\r\n,{"):
            return None
        size <<= 6
