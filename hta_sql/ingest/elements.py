"""The slow, sure way through a piece that does not parse: element by element.

Good events keep their bytes, so that the fast path can still read them; bad ones are told apart
with their offset and the parser's own words.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

import orjson

# Also where a comma is missing or doubled: what stands between two events is no part of them.
EVENT_STARTS = re.compile(rb'\}[\s,]*(?=\{\s*")')
JSON_TOKEN_OR_COMMA = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{},]', re.DOTALL)
# An argument may itself be a list of objects, so that one event spans several cuts; this bounds
# what a broken event can swallow.
MOST_CUTS_IN_AN_EVENT = 64
SEPARATORS = b" \t\r\n,"


class Element(NamedTuple):
    """One element of traceEvents: its place in the piece, and why it is unusable, if it is."""

    start: int
    end: int
    problem: str | None


def split_elements(data: bytes, is_last: bool) -> tuple[list[Element], int]:
    """All elements of a piece of traceEvents, in order, and the length of what is left over.

    Left over is an element that may go on in the next piece, where this one is not the last.
    """
    cuts = [match.end() for match in EVENT_STARTS.finditer(data)]
    starts = [len(data) - len(data.lstrip(SEPARATORS)), *cuts]
    ends = [*cuts, len(data)]
    elements: list[Element] = []
    at = 0
    while at < len(starts):
        found, taken = elements_from(data, starts[at], ends[at : at + MOST_CUTS_IN_AN_EVENT])
        broken = len(found) == 1 and found[0].problem
        if broken and not is_last and len(ends) - at < MOST_CUTS_IN_AN_EVENT:
            return elements, len(data) - starts[at]
        elements += found
        at += taken
    return elements, 0


def elements_from(data: bytes, start: int, ends: list[int]) -> tuple[list[Element], int]:
    """The elements that begin at `start`, and how many of `ends` they reach over."""
    end = end_of(data, start, ends[0])
    if start == end:
        return [], 1
    problem = problem_of(data[start:end])
    if problem is None:
        return [Element(start, end, None)], 1
    # Elements that are no objects have no cuts between them.
    parts = [Element(*part, problem_of(data[slice(*part)])) for part in parts_of(data, start, end)]
    if len(parts) > 1 and any(part.problem is None for part in parts):
        return parts, 1
    for more, further in enumerate(ends[1:], 2):
        wider = end_of(data, start, further)
        if problem_of(data[start:wider]) is None:
            return [Element(start, wider, None)], more
    return parts if len(parts) > 1 else [Element(start, end, problem)], 1


def parts_of(data: bytes, start: int, end: int) -> list[tuple[int, int]]:
    """What stands between commas that are in no string, list or object."""
    parts = []
    depth = 0
    for token in JSON_TOKEN_OR_COMMA.finditer(data, start, end):
        char = data[token.start()]
        if char in b"[{":
            depth += 1
        elif char in b"]}":
            depth -= 1
        elif char == ord(",") and depth == 0:
            parts.append((start, token.start()))
            start = token.end()
    parts.append((start, end))
    stripped = ((s + len(data[s:e]) - len(data[s:e].lstrip()), e) for s, e in parts)
    return [(s, end_of(data, s, e)) for s, e in stripped if data[s:e].strip()]


def end_of(data: bytes, start: int, end: int) -> int:
    """`end` without the separators that follow the element."""
    return start + len(data[start:end].rstrip(SEPARATORS))


def problem_of(text: bytes) -> str | None:
    """Why this is no JSON object, or None where it is one."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        if not reads_with_not_a_number(text):
            return f"broken JSON: {error.msg}"
        return None
    return None if isinstance(value, dict) else f"not an event: {type(value).__name__}"


def reads_with_not_a_number(text: bytes) -> bool:
    """Whether NaN and infinities are all that is wrong; the fast path keeps them in arguments."""
    plain = re.sub(rb"(?<=[:\[,\s])-?(?:[Nn]a[Nn]|[Ii]nf(?:inity)?)(?=[\s,\]}])", b"null", text)
    try:
        return plain != text and isinstance(json.loads(plain), dict)
    except ValueError:
        return False
